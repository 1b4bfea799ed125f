# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lines that read and write by indices, constant and computed ones, by masks, and by the places of best values."""

from chooser import line, write


def index(c, bound, count=None):
    """A list of indices as source: constant, from either end, or computed of a value."""
    count = count or c.one(1, 2, 3)
    constant = c.indices([count], max(1, bound))
    if c.below(3):
        return c.one(constant, f"({constant} - {max(1, bound)})")
    a = c.x()
    return f"(({a}.detach().reshape(-1)[:{count}] * 7).abs().long() % {max(1, bound)})"


@line
def pairs(c):
    a = c.x(2)
    n = c.one(1, 3)
    i, j = index(c, c.extent(a, 0), n), index(c, c.extent(a, 1), n)
    k = index(c, c.extent(a, -1), n)
    return c.one(
        f"{a}[{i}, {j}]",
        f"{a}[{i}][:, {j}]",
        f"{a}[{i}[:, None], {j}]",
        f"{a}[{i}, ..., {k}]",
        f"{a}[{i}, :, {k}]",
        f"{a}[..., {k}, None]",
        f"{a}[None, {i}]",
        f"{a}[1:, {j}]",
        f"{a}[:, {j}, ..., {k}]",
        f"{a}[{c.below(2)}, {j}]",
        f"{a}[::2, {j}]",
        f"{a}.mT[{k}]",
    )


@line
def lists(c):
    a = c.x(1)
    n = c.extent(a, 0)
    return c.one(f"{a}[[0, -1]]", f"{a}[torch.tensor({c.below(max(1, n))})]", f"{a}[torch.tensor({[bool(c.below(2)) for _ in range(n)]})]", f"{a}[torch.arange({n} - 1, -1, -1)]", f"{a}[..., [0]]", f"{a}[[[0], [-1]]]")


@line
def at_best(c):
    a = c.x(1)
    d = c.dim(a)
    b = c.like(a, 1)
    return c.one(
        f"{a}.gather({d}, {a}.argmax({d}, keepdim=True))",
        f"{b}.gather({d}, {a}.argsort(dim={d}, stable=True))",
        f"{a}[{a}.reshape({a}.shape[0], -1).argmin(0)]",
        f"{b}.take({a}.argmax())",
        f"{a}.index_select({d}, {b}.reshape(-1)[:3].argsort(stable=True))",
        f"{a}.reshape(-1)[{b}.reshape(-1).argsort(stable=True)[:2] % {a}.numel()]",
        f"{a}.take({c.indices([2, 2], max(1, c.values[a].numel()))})",
        f"{a}[torch.arange({a}.shape[0]), {b}.reshape(-1)[:{a}.shape[0]].argsort(stable=True) % {a}.shape[-1]]",
    )


@line
def put(c):
    a = c.x(1)
    n = c.one(2, 3)
    i = index(c, c.extent(a, 0), n)
    rows = f"{a}[{i}] * {c.number()}"
    return c.one(
        f"{a}.index_put(({i},), {rows}, accumulate=True)",
        f"{a}.index_put(({i},), torch.tensor({c.number()}), accumulate={c.one('True', 'False')})",
        f"{a}.index_put(({i}, {index(c, c.shape(a)[-1], n)}), {c.like(a)}.sum(), accumulate=True)",
        f"{a}.index_put(({a} > {c.number()},), torch.tensor({c.number()}))",
        f"torch.zeros_like({a}).index_put(({i},), {rows}, accumulate=True)",
        f"{a}.put({c.indices([3], max(1, c.values[a].numel()))}, {c.like(a)}.reshape(-1)[:3], accumulate=True)",
    )


@line
def index_ops(c):
    a = c.x(1)
    d = c.dim(a)
    n = c.extent(a, d)
    b = c.like(a, 1)
    order = list(range(n))
    c.random.shuffle(order)
    i = c.indices([n], max(1, n))
    return c.one(
        f"{a}.index_copy({d}, torch.tensor({order}), {b})",
        f"{a}.index_fill({d}, {index(c, n)}, {c.number()})",
        f"{a}.index_add({d}, {i}, {b}, alpha={c.number()})",
        f"{a}.index_reduce({d}, {i}, {b}, '{c.one('amax', 'amin', 'mean', 'prod')}'{c.one('', ', include_self=False')})",
        f"{a}.select_scatter({b}.select({d}, 0), {d}, {c.below(max(1, n))})",
        f"{a}.slice_scatter({b}.narrow({d}, 0, {n} - {n} // 2), {d}, {n} // 2)",
        f"{a}.slice_scatter({b}[::2], 0, 0, None, 2)",
        f"{a}.diagonal_scatter({b}.diagonal())",
    )


@line
def scatters(c):
    a = c.x(1)
    d = c.dim(a)
    shape = [1 + c.below(max(1, extent)) for extent in c.shape(a)]
    shape[d] = 1 + c.below(5)
    i = c.indices(shape, max(1, c.extent(a, d)))
    b = f"{c.x()}.sum().expand({shape})" if c.below(3) == 0 else c.like(a)
    once = list(range(c.extent(a, d)))
    c.random.shuffle(once)
    return c.one(
        f"{a}.scatter_add({d}, {i}, {b})",
        f"{a}.scatter({d}, {i}, {c.number()})",
        f"{a}.scatter({d}, {i}, {b}, reduce='add')",
        f"{a}.scatter({d}, {i}, {c.number()}, reduce='{c.one('add', 'multiply')}')",
        f"{a}.scatter_reduce({d}, {i}, {b}, '{c.one('sum', 'amax', 'amin', 'mean', 'prod')}', include_self={c.one('True', 'False')})",
        f"{a}.scatter({d}, {a}.argsort(dim={d}, stable=True), {c.like(a)})",
        f"torch.zeros_like({a}).scatter({d}, {a}.argmax({d}, keepdim=True), 1.0)",
    )


@line
def by_mask(c):
    a = c.x(1)
    return c.one(
        f"{a}.masked_scatter({c.mask(a)}, {c.like(a)})",
        f"{a}.masked_fill({c.mask(a)}, float('-inf')).softmax({c.dim(a)})",
        f"torch.where({c.mask(a)}, {a}, float('inf')).clamp(max={c.number(0.5, 2)})",
        f"{a}.masked_fill({c.mask(a)}, {c.like(a)}.mean())",
        f"torch.nan_to_num({a} / ({a} > 0), {c.number()}, {c.number()}, {c.number()})",
        f"{a}.masked_fill(torch.tensor({c.below(2)}, dtype=torch.bool), {c.number()})",
        f"{a} * {c.mask(a)}",
    )


@line
def ordered(c):
    a = c.x(1)
    edges = sorted(c.number() for _ in range(4))
    return c.one(f"torch.bucketize({a}, torch.tensor({edges}))", f"torch.searchsorted(torch.tensor({edges}), {a}.contiguous(), right={c.one('True', 'False')})", f"{a}.argsort({c.dim(a)}, descending=True)", f"{a}.sort({c.dim(a)}, descending=True)[{c.below(2)}]", f"{a}.kthvalue({1 + c.below(2)}, {c.dim(a)})[0]", f"{a}.msort()")


@line
def of_integers(c):
    """Lookups by values that are integers."""
    i = c.integer()
    a = c.x(1)
    n = max(1, c.extent(a, 0))
    return c.one(f"{a}[{i} % {n}]", f"F.embedding({i} % {n}, {a}.reshape({n}, -1))", f"F.one_hot({i} % 4, 4).to({a}.dtype)", f"{a}.index_select(0, {i}.reshape(-1)[:3] % {n})", f"{a}[{i}.reshape(-1)[:2] % {n}].sum(0)")


@line
def bags(c):
    a = c.named(lambda x: x.is_floating_point() and x.dim() == 2)
    i = c.indices([2, 3], max(1, c.extent(a, 0)))
    return c.one(f"F.embedding_bag({i}, {a}, mode='{c.one('sum', 'mean', 'max')}')", f"F.embedding({i}, {a}, padding_idx={c.below(max(1, c.extent(a, 0)))})", f"F.embedding_bag({i}.reshape(-1), {a}, torch.tensor([0, 2, 2]), mode='{c.one('sum', 'mean')}')")


# ---- writes ----


@write
def accumulate(c):
    a = c.x(1)
    n = c.one(2, 3)
    i = index(c, c.extent(a, 0), n)
    return c.one(
        f"{a}.index_put_(({i},), {a}[{i}] * {c.number()}, accumulate=True)",
        f"{a}[{i}] += {c.number()}",
        f"{a}[{i}] *= {c.number()}",
        f"{a}[{i}, {index(c, c.shape(a)[-1], n)}] += {c.number()}",
        f"{a}[..., {index(c, c.shape(a)[-1], n)}] = {c.number()}",
        f"{a}[{i}, ..., 0] = {c.x()}.mean()",
        f"{a}[[0, -1]] = {a}[[-1, 0]]",
        f"{a}[1:][{i} % max(1, {a}.shape[0] - 1)] = {c.number()}",
    )


@write
def scatter_into(c):
    a = c.x(1)
    d = c.dim(a)
    i = c.indices(c.shape(a), max(1, c.extent(a, d)))
    return c.one(
        f"{a}.scatter_add_({d}, {i}, {c.like(a)})",
        f"{a}.scatter_({d}, {i}, {c.number()})",
        f"{a}.scatter_reduce_({d}, {i}, {c.like(a)}, '{c.one('amax', 'mean', 'prod', 'amin')}')",
        f"{a}.masked_scatter_({c.mask(a)}, {c.like(a)}.clone())",
        f"{a}.index_copy_({d}, torch.tensor([{c.below(max(1, c.extent(a, d)))}]), {c.like(a)}.narrow({d}, 0, 1))",
        f"{a}.put_(torch.tensor([0, 1]), {c.like(a)}.reshape(-1)[:2])",
    )


@write
def by_condition(c):
    a = c.x(1)
    return c.one(
        f"{a}[{a} {c.one('<', '>')} {c.number()}] = {c.number()}",
        f"{a}[{c.mask(a)}] = {c.x()}.sum()",
        f"{a}[:, {a}[0] > 0] = {c.number()}",
        f"{a}[{a}.reshape({a}.shape[0], -1).sum(1) > 0] = {c.number()}",
        f"{a}[torch.tensor({[bool(c.below(2)) for _ in range(c.extent(a, 0))]})] = {c.number()}",
        f"{a}[torch.tensor({[bool(c.below(2)) for _ in range(c.extent(a, 0))]})] += {c.like(a)}.mean()",
    )
