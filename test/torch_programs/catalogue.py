# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a line of a random program can be: source that reads values that are there.

A line need not fit: program.py runs it, and leaves it out where PyTorch takes it not.
"""

from chooser import line, write

# ---- elementwise ----


@line
def unary(c):
    name = c.one(
        "tanh", "sigmoid", "sin", "cos", "abs", "neg", "square", "erf", "floor", "round", "sign", "exp", "expm1", "frac", "trunc", "atan", "sinc", "asinh"
    )
    return f"torch.{name}({c.x()})"


@line
def positive(c):
    return f"torch.{c.one('sqrt', 'log', 'log1p', 'rsqrt', 'reciprocal', 'log2', 'lgamma', 'digamma')}({c.x()}.abs() + {c.number(0.3, 1)})"


@line
def activation(c):
    name = c.one(
        "relu", "gelu", "silu", "softplus", "elu", "selu", "leaky_relu", "hardtanh", "hardswish", "mish", "logsigmoid", "softsign", "relu6", "tanhshrink"
    )
    return f"F.{name}({c.x()})"


@line
def binary(c):
    a = c.x()
    return f"{a} {c.one('+', '-', '*')} {c.like(a)}"


@line
def binary_function(c):
    a = c.x()
    return f"torch.{c.one('maximum', 'minimum', 'atan2', 'hypot', 'logaddexp', 'fmax', 'copysign')}({a}, {c.like(a)})"


@line
def quotient(c):
    a = c.x()
    return f"{a} {c.one('/', '/', '%', '//')} ({c.like(a)}.abs() + {c.number(0.5, 1)})"


@line
def with_number(c):
    a, n = c.x(), c.number()
    return c.one(f"{a} * {n}", f"{a} + {n}", f"{n} - {a}", f"{n} / ({a}.abs() + 1)", f"{a} ** {c.one(2, 3)}", f"{a}.abs() ** {abs(n)}", f"{a} % {abs(n) + 0.1}")


@line
def clamp(c):
    a = c.x()
    return c.one(f"{a}.clamp({c.number(-1, 0)}, {c.number(0, 1)})", f"{a}.clamp(min={c.number()})", f"torch.clamp({a}, max={c.like(a)})")


@line
def three(c):
    a = c.x()
    b, d = c.like(a), c.like(a)
    return c.one(f"torch.lerp({a}, {b}, {c.number()})", f"torch.addcmul({a}, {b}, {d}, value={c.number()})", f"torch.lerp({a}, {b}, {d})")


@line
def choice(c):
    a = c.x()
    return c.one(f"torch.where({c.mask(a)}, {a}, {c.like(a)})", f"torch.where({c.mask(a)}, {a}, {c.number()})", f"{a}.masked_fill({c.mask(a)}, {c.number()})")


@line
def compare(c):
    a = c.x()
    return f"{a} {c.one('<', '>', '<=', '>=')} {c.one(c.like(a), c.number())}"


@line
def logic(c):
    a = c.named(lambda x: str(x.dtype) == "torch.bool")
    return c.one(f"~{a}", f"{a} {c.one('&', '|', '^')} {c.mask(a)}", f"{a}.{c.one('float', 'long')}()", f"{a}.any({c.dim(a)})", f"{a}.all({c.dim(a)})")


@line
def convert(c):
    a = c.x()
    return c.one(f"{a}.double()", f"{a}.double()", f"{a}.float()", f"({a} * 3).long()", f"({a} * 3).int()", f"{a}.detach()", f"{a}.to(torch.float64)")


@line
def integers(c):
    a = c.named(lambda x: not x.is_floating_point() and str(x.dtype) != "torch.bool")
    return c.one(f"{a} * {c.below(5)} - 2", f"{a} // 2", f"{a} % 3", f"{a}.float()", f"{a}.double()", f"{a}.sum({c.dim(a)})", f"{a}.cumsum({c.dim(a)})", f"{a}.abs()")


# ---- reductions ----


@line
def reduce(c):
    a = c.x(1)
    keep = c.one("", ", keepdim=True")
    return f"{a}.{c.one('sum', 'mean', 'amax', 'amin', 'prod', 'logsumexp')}({c.dim(a)}{keep})"


@line
def reduce_several(c):
    a = c.x(2)
    dims = sorted({c.dim(a) % len(c.shape(a)) for _ in range(2)})
    return f"{a}.{c.one('sum', 'mean', 'amax', 'var', 'std', 'norm')}(dim={dims}{c.one('', ', keepdim=True')})"


@line
def reduce_all(c):
    return f"{c.x()}.{c.one('sum', 'mean', 'max', 'min', 'norm', 'var')}()"


@line
def best(c):
    a = c.x(1)
    return c.one(f"{a}.max({c.dim(a)}).values", f"{a}.min({c.dim(a)})[0]", f"{a}.argmax({c.dim(a)})", f"{a}.sort({c.dim(a)})[0]", f"{a}.median({c.dim(a)}).values")


@line
def top(c):
    """Of values that are all different: of equal ones PyTorch takes any."""
    a = c.named(lambda x: x.is_floating_point() and x.dim() > 0 and x.unique().numel() == x.numel())
    d = c.dim(a)
    return f"{a}.topk({1 + c.below(max(1, c.extent(a, d)))}, dim={d})[{c.below(2)}]"


@line
def running(c):
    a = c.x(1)
    return c.one(f"{a}.cumsum({c.dim(a)})", f"{a}.cumprod({c.dim(a)})", f"{a}.cummax({c.dim(a)})[0]", f"{a}.logcumsumexp({c.dim(a)})", f"torch.diff({a}, dim={c.dim(a)})")


@line
def normalise(c):
    a = c.x(1)
    last = c.extent(a, -1)
    return c.one(
        f"{a}.softmax({c.dim(a)})", f"F.log_softmax({a}, {c.dim(a)})", f"F.layer_norm({a}, [{last}])", f"F.normalize({a}, dim={c.dim(a)})", f"F.rms_norm({a}, [{last}])"
    )


@line
def statistics(c):
    a = c.x(1)
    return f"({a} - {a}.mean({c.dim(a)}, keepdim=True)) * torch.rsqrt({a}.var({c.dim(a)}, keepdim=True, unbiased=False) + 0.1)"


# ---- views ----


@line
def reshape(c):
    a = c.x()
    count = 1
    for extent in c.shape(a):
        count *= extent
    return f"{a}.reshape({c.factors(count)})"


@line
def turn(c):
    a = c.x(2)
    order = list(range(len(c.shape(a))))
    c.random.shuffle(order)
    return c.one(f"{a}.permute({order})", f"{a}.transpose({c.dim(a)}, {c.dim(a)})", f"{a}.mT", f"{a}.movedim({c.dim(a)}, {c.dim(a)})")


@line
def subscript(c):
    a = c.x(1)
    return f"{a}[{c.subscript(a)}]"


@line
def narrow(c):
    a = c.x(1)
    d = c.dim(a)
    first = c.below(max(1, c.extent(a, d)))
    return f"{a}.narrow({d}, {first}, {1 + c.below(max(1, c.extent(a, d) - first))})"


@line
def front(c):
    """Half of all, or a part that begins at the first."""
    a = c.x()
    return f"{a}.reshape(-1)[:{c.one(f'{a}.numel() // 2', 1 + c.below(12))}]"


@line
def units(c):
    a = c.x()
    return c.one(f"{a}.unsqueeze({c.one(0, -1)})", f"{a}.squeeze()", f"{a}.flatten()", f"{a}[None]")


@line
def expand(c):
    a = c.x()
    return f"{a}.expand({[c.one(1, 2, 3)] + c.shape(a)})"


@line
def repeat(c):
    a = c.x(1)
    return c.one(f"{a}.repeat({[c.one(1, 2) for _ in c.shape(a)]})", f"{a}.repeat_interleave(2, dim={c.dim(a)})", f"{a}.tile({c.one(1, 2)})")


@line
def move(c):
    a = c.x(1)
    return c.one(f"{a}.flip({c.dim(a)})", f"{a}.roll({c.one(-2, -1, 1, 3)}, {c.dim(a)})", f"torch.rot90({a})")


@line
def parts(c):
    a = c.x(1)
    return c.one(f"{a}.chunk(2, {c.dim(a)})[{c.one(0, -1)}]", f"{a}.split({1 + c.below(3)}, {c.dim(a)})[{c.one(0, -1)}]", f"{a}.unbind({c.dim(a)})[{c.one(0, -1)}]")


@line
def windows(c):
    a = c.x(1)
    d = c.dim(a)
    return f"{a}.unfold({d}, {1 + c.below(max(1, c.extent(a, d)))}, {1 + c.below(3)})"


@line
def strided(c):
    a = c.x(1)
    return f"{a}.contiguous().as_strided({[2, 1 + c.below(3)]}, {[c.below(4), 1 + c.below(2)]}, {c.below(3)})"


@line
def triangle(c):
    a = c.x(2)
    return c.one(f"{a}.{c.one('tril', 'triu')}({c.one(-1, 0, 1)})", f"{a}.diagonal(dim1={c.dim(a)}, dim2={c.dim(a)})", f"torch.diag_embed({a})")


@line
def pad(c):
    a = c.x(1)
    widths = [c.one(0, 0, 1, 2, -1) for _ in range(2 * c.one(1, len(c.shape(a))))]
    return c.one(f"F.pad({a}, {widths})", f"F.pad({a}, {widths}, value={c.number()})", f"F.pad({a}, {[c.below(3), c.below(3)]}, mode='{c.one('reflect', 'replicate', 'circular')}')")


@line
def widen_back(c):
    """As many as another has, of which some are padding."""
    a = c.x()
    b = c.like(a)
    return f"F.pad({a}.reshape(-1), (0, max(0, {b}.numel() - {a}.numel())))[:{b}.numel()].reshape({b}.shape)"


@line
def join(c):
    a = c.x(1)
    others = ", ".join([a, c.like(a, 1)] + ([c.like(a, 1)] if c.below(3) == 0 else []))
    return c.one(f"torch.cat([{others}], {c.dim(a)})", f"torch.stack([{others}], {c.dim(a)})", f"torch.hstack([{others}])")


# ---- indices ----


@line
def select(c):
    a = c.x(1)
    d = c.dim(a)
    return f"{a}.index_select({d}, {c.indices([1 + c.below(5)], max(1, c.extent(a, d)))})"


@line
def gather(c):
    a = c.x(1)
    d = c.dim(a)
    shape = c.shape(a)
    shape[d] = 1 + c.below(4)
    return f"{a}.gather({d}, {c.indices(shape, max(1, c.extent(a, d)))})"


@line
def fancy(c):
    a = c.x(1)
    index = c.indices([1 + c.below(4)], max(1, c.extent(a, 0)))
    return c.one(f"{a}[{index}]", f"{a}[..., {c.indices([2], max(1, c.extent(a, -1)))}]", f"{a}[:, {c.indices([2, 2], max(1, c.shape(a)[1]) if len(c.shape(a)) > 1 else 1)}]")


@line
def scatter(c):
    a = c.x(1)
    d = c.dim(a)
    index = c.indices(c.shape(a), max(1, c.extent(a, d)))
    return c.one(f"{a}.scatter_add({d}, {index}, {c.like(a)})", f"torch.zeros_like({a}).scatter_add({d}, {index}, {a})", f"{a}.scatter_reduce({d}, {index}, {c.like(a)}, '{c.one('sum', 'amax', 'mean')}')")


@line
def index_add(c):
    a = c.x(1)
    d = c.dim(a)
    return f"{a}.index_add({d}, {c.indices([c.extent(a, d)], max(1, c.extent(a, d)))}, {c.like(a)})"


@line
def embed(c):
    a = c.named(lambda x: x.is_floating_point() and x.dim() == 2)
    return f"F.embedding({c.indices([c.one(1, 3), 2], max(1, c.extent(a, 0)))}, {a})"


@line
def by_best(c):
    a = c.x(1)
    d = c.dim(a)
    return f"torch.take_along_dim({a}, {a}.argsort(dim={d}, stable=True), {d})"


# ---- products ----


@line
def product(c):
    a = c.x(2)
    b = c.like(a, 2)
    return c.one(f"{a} @ {b}", f"{a} @ {b}.mT", f"{a}.mT @ {b}", f"torch.matmul({a}, {a}.mT)", f"F.linear({a}, {b})")


@line
def einsum(c):
    a = c.named(lambda x: x.is_floating_point() and x.dim() == 2)
    b = c.named(lambda x: x.is_floating_point() and x.dim() == 2 and x.dtype == c.values[a].dtype)
    return c.one(f"torch.einsum('ij,kj->ik', {a}, {b})", f"torch.einsum('ij,ij->i', {a}, {b})", f"torch.einsum('ij,ik->jk', {a}, {b})", f"torch.outer({a}.reshape(-1)[:5], {b}.reshape(-1)[:4])")


@line
def attention(c):
    a = c.x(2)
    return f"F.scaled_dot_product_attention({a}, {c.like(a, 2)}, {c.like(a, 2)}{c.one('', ', is_causal=True')})"


@line
def convolve(c):
    a = c.named(lambda x: x.is_floating_point() and x.dim() == 3)
    b = c.named(lambda x: x.is_floating_point() and x.dim() == 3)
    return f"F.conv1d({a}, {b}.narrow(-1, 0, min({b}.shape[-1], {a}.shape[-1])), stride={c.one(1, 2)}, padding={c.one(0, 1)})"


@line
def pool(c):
    a = c.named(lambda x: x.is_floating_point() and x.dim() in (3, 4))
    kind = c.one("max_pool", "avg_pool", "adaptive_avg_pool")
    rank = len(c.shape(a)) - 2
    return f"F.{kind}{rank}d({a}, {c.one(1, 2)})"


@line
def distance(c):
    a = c.x(2)
    return c.one(f"torch.cdist({a}, {c.like(a, 2)} + 2)", f"F.cosine_similarity({a}, {c.like(a, 2)}, dim={c.dim(a)})", f"F.mse_loss({a}, {c.like(a)})", f"F.smooth_l1_loss({a}, {c.like(a)}, reduction='none')")


# ---- writes ----


@write
def whole(c):
    a = c.x()
    return c.one(f"{a}.add_({c.like(a)})", f"{a}.mul_({c.number()})", f"{a}.copy_({c.like(a)})", f"{a}.clamp_({c.number(-1, 0)}, 1)", f"{a}.tanh_()", f"{a}.masked_fill_({c.mask(a)}, {c.number()})")


@write
def part(c):
    a = c.x(1)
    return c.one(f"{a}[{c.subscript(a)}] = {c.number()}", f"{a}[{c.subscript(a)}] *= {c.number()}", f"{a}[{c.subscript(a)}] += {c.like(a)}", f"{a}[{c.subscript(a)}] = {c.like(a)}")


@write
def part_of_view(c):
    a = c.x(2)
    return c.one(f"{a}.mT[{c.subscript(a)}].mul_({c.number()})", f"{a}.view(-1)[{c.below(4)}:].add_({c.number()})", f"{a}.diagonal().fill_({c.number()})", f"{a}.select({c.dim(a)}, 0).copy_({c.x()}.mean())")


@write
def by_index(c):
    a = c.x(1)
    index = c.indices([2], max(1, c.extent(a, 0)))
    return c.one(f"{a}[{index}] = {c.number()}", f"{a}.index_fill_(0, {index}, {c.number()})", f"{a}.index_add_(0, {index}, {a}[:2].clone())", f"{a}[{c.mask(a)}] = {c.number()}")
