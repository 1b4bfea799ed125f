# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Statements that write values: every in-place form, out=, writes into views of views, and writes that no gradient sees."""

from chooser import is_integer, line, write


@write
def augmented(c):
    a = c.x()
    b = c.like(a)
    return c.one(
        f"{a} += {b}",
        f"{a} -= {c.one(b, c.number())}",
        f"{a} *= {b}",
        f"{a} /= {b}.abs() + 1",
        f"{a} **= 2",
        f"{a} %= {c.number(0.5, 2)}",
        f"{a} //= {c.number(0.5, 2)}",
        f"{a} += {c.any()}",
        f"{a} *= {c.mask(a)}",
    )


@write
def functions(c):
    a = c.x()
    b = c.like(a)
    return c.one(
        f"{a}.sub_({b}, alpha={c.number()})",
        f"{a}.{c.one('neg', 'relu', 'sigmoid', 'abs', 'floor', 'sin', 'square', 'round', 'erf', 'trunc', 'sign', 'frac')}_()",
        f"F.{c.one('relu', 'leaky_relu', 'elu', 'silu', 'hardtanh', 'hardswish', 'mish', 'relu6', 'selu', 'celu')}({a}, inplace=True)",
        f"{a}.{c.one('zero_()', 'fill_(2)', 'clamp_(min=-0.5)', 'clamp_max_(1)', 'pow_(2)')}",
        f"{a}.fill_({c.x()}.sum())",
        f"{a}.copy_({c.any()})",
        f"{a}.copy_({c.x()}.double())",
        f"{a}.lerp_({b}, {c.number()})",
        f"{a}.addcmul_({b}, {c.like(a)}, value={c.number()})",
        f"{a}.addmm_({b}, {b})",
        f"{a}.div_({c.number(0.5, 2)}, rounding_mode='floor')",
        f"{a}.{c.one('tril_', 'triu_')}()",
        f"{a}.cumsum_({c.dim(a) if c.shape(a) else 0})",
        f"{a}.masked_fill_({c.mask(a)}, {b}.mean())",
        f"{a}.fill_diagonal_({c.number()})",
        f"{a}.index_fill_(0, torch.tensor([0]), {b}.mean())",
        f"{a}.detach().mul_({c.number()})",
    )


@write
def shape_in_place(c):
    a = c.x(2)
    return c.one(f"{a}.transpose_(0, 1)", f"{a}.t_()", f"{a}.unsqueeze_({c.one(0, -1)})", f"{a}.squeeze_()", f"{a}.swapdims_(0, -1)")


@write
def without_gradient(c):
    """Seen by the trace's gradient: only formats that say where gradients stop hold it."""
    a = c.x(1)
    statement = c.one(f"{a}.mul_({c.number()})", f"{a}[{c.subscript(a)}] = {c.number()}", f"{a}.copy_({c.like(a)})", f"{a}[0] += {c.like(a)}.mean()", f"{a}.clamp_(-1, 1)")
    return f"with torch.no_grad():\n    {statement}"


@write
def views_of_views(c):
    a = c.x(2)
    n = c.number()
    return c.one(
        f"{a}.mT[0].mul_({n})",
        f"{a}[0][{c.one('0', '1:', '::2')}] = {n}",
        f"{a}[1:][..., 1:] *= {n}",
        f"{a}[:, 1:].mT[0] = {n}",
        f"{a}.unsqueeze(1)[..., -1] = {n}",
        f"{a}.permute({list(range(len(c.shape(a))))[::-1]})[-1].add_({n})",
        f"{a}.unbind({c.dim(a)})[-1].mul_({n})",
        f"{a}.chunk(2, {c.dim(a)})[0].sub_({n})",
        f"{a}.split(1, {c.dim(a)})[0].tanh_()",
        f"{a}.diagonal(0, 0, -1).mul_({n})",
        f"{a}.diagonal()[1:] += {c.x()}.mean()",
        f"{a}.unfold({c.dim(a)}, 1, 2).mul_({n})",
        f"{a}.narrow({c.dim(a)}, 0, 1).zero_()",
        f"{a}.squeeze()[..., 0] = {n}",
        f"{a}.flatten()[1:3] = {n}",
        f"{a}.reshape(-1)[::2] *= {n}",
        f"{a}.mT.reshape(-1)[:3] = {n}",
        f"{a}.expand_as({a})[0].mul_({n})",
        f"{a}[None].mT[..., 0] = {n}",
        f"{a}[..., 0].copy_({a}[..., -1])",
        f"{a}[0], {a}[-1] = {a}[-1].clone(), {a}[0].clone()",
        f"{a}[1:] = {a}[:-1].clone()",
        f"{a}[:, 0] = {a}.sum({c.dim(a)})[..., :1].reshape(-1)[0]",
        f"{a}.as_strided((2,), (1,)).mul_({n})",
        f"{a}.movedim(0, -1)[0] -= {n}",
        f"{a}.view_as({a}).mul_({n})",
        f"torch.where({a} > 0, {a}, {a}).mul_({n})",
    )


@write
def integer_writes(c):
    a = c.named(lambda x: is_integer(x))
    return c.one(
        f"{a} += 1",
        f"{a} *= {c.one(-1, 2)}",
        f"{a} //= 2",
        f"{a} %= 3",
        f"{a} |= 1",
        f"{a} <<= 1",
        f"{a}.add_({c.integer_like(a)})",
        f"{a}.copy_({c.x()} * 3)",
        f"{a}[{c.subscript(a)}] = {c.below(4)}" if c.shape(a) else f"{a}.fill_(2)",
        f"{a}[{a} > 1] = 0",
        f"{a}.clamp_(-2, 2)",
        f"{a}.index_add_(0, torch.tensor([0, 0]), {a}[:2].clone())",
        f"{a}.scatter_add_(0, torch.zeros_like({a}, dtype=torch.int64), {a}.clone())",
        f"{a}.neg_()",
        f"{a}.masked_fill_({a} < 0, 1)",
        f"{a}.cumsum_(0)",
    )


@write
def boolean_writes(c):
    a = c.boolean(1)
    return c.one(f"{a}[0] = True", f"{a}[{c.subscript(a)}] = False", f"{a} &= {c.boolean()}", f"{a} |= {c.boolean()}", f"{a}.logical_not_()", f"{a}.fill_(True)", f"{a}.copy_({c.any()})", f"{a} ^= True", f"{a}[{a}] = False")


@write
def complex_writes(c):
    a = c.complex()
    return c.one(
        f"{a}.real.mul_({c.number()})",
        f"{a}.imag.zero_()",
        f"{a}[{c.subscript(a)}] = {c.one('1j', '0.5', '(1 - 1j)')}" if c.shape(a) else f"{a}.mul_(1j)",
        f"{a} *= {c.one('1j', '0.5')}",
        f"{a} += {c.x()}",
        f"{a}.copy_({c.any()})",
        f"torch.view_as_real({a})[..., 0] = {c.number()}",
        f"{a}.conj().imag.mul_({c.number()})",
        f"{a}.conj_physical_()",
        f"{a}.real[0] = {c.number()}",
        f"{a}.exp_()",
        f"{a}.mul_({c.complex()})",
    )


@line
def into_out(c):
    """PyTorch takes out= only of what has no gradient."""
    a = c.x(1)
    b = c.like(a)
    plain = f"{a}.detach()"
    d = c.dim(a)
    return c.one(
        f"torch.{c.one('add', 'mul', 'sub', 'maximum')}({plain}, {b}.detach(), out=torch.empty_like({a}))",
        f"torch.{c.one('exp', 'tanh', 'neg', 'abs')}({plain}, out={plain}.clone())",
        f"torch.sum({plain}, {d}, keepdim=True, out=torch.empty_like({plain}.narrow({d}, 0, 1)))",
        f"torch.cumsum({plain}, {d}, out=torch.empty_like({a}))",
        f"torch.cat([{plain}[:1], {plain}[1:]], out=torch.empty_like({a}))",
        f"torch.matmul({plain}, {plain}.mT, out=torch.empty(*{c.shape(a)[:-1]}, {c.shape(a)[-2] if len(c.shape(a)) > 1 else 1}, dtype={a}.dtype))",
        f"torch.clamp({plain}, -1, 1, out=torch.zeros_like({a}))",
        f"torch.stack([{plain}, {plain}], out=torch.empty({[2] + c.shape(a)}, dtype={a}.dtype))",
        f"torch.mul({plain}, {b}.detach(), out=torch.zeros({c.shape(a)}, dtype=torch.float64))",
    )


@write
def into_value(c):
    a = c.named(lambda x: x.is_floating_point() and not x.requires_grad and x.dim() > 0)
    return c.one(f"torch.mul({a}, {c.number()}, out={a})", f"torch.neg({a}[0], out={a}[-1])", f"torch.add({a}, {a}, alpha={c.number()}, out={a})", f"torch.sub({c.like(a)}.detach(), 1, out={a})", f"torch.sin({a}, out={a}[...])")


@line
def buffers_of_values(c):
    """A tensor of zeros that is written part by part, as caches are."""
    a = c.x(1)
    return c.one(f"torch.zeros_like({a}).copy_({a})", f"{a}.new_zeros({[2] + c.shape(a)}).index_copy_(0, torch.tensor([1]), {a}[None])", f"{a}.new_ones({a}.shape).mul_({a})", f"torch.empty_like({a}).copy_({c.like(a)})", f"torch.zeros(2, *{a}.shape).add_({a})")
