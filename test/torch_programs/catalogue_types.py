# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lines of integers, booleans and complex numbers, and of values of several types."""

from chooser import line

# ---- integers ----


@line
def integer_arithmetic(c):
    a = c.integer()
    b = c.integer_like(a)
    return c.one(f"{a} {c.one('+', '-', '*')} {b}", f"{a} {c.one('//', '%')} ({b}.abs() + 1)", f"{a} / ({b}.abs() + {c.one(1, 0.5)})", f"{a} // {c.one(-3, -2, 2, 3)}", f"{a} % {c.one(-3, 2, 5)}")


@line
def integer_function(c):
    a = c.integer()
    b = c.integer_like(a)
    return c.one(
        f"torch.div({a}, {b}.abs() + 2, rounding_mode='{c.one('floor', 'trunc')}')",
        f"torch.div({a}, {c.one(-2, 3)}, rounding_mode='{c.one('floor', 'trunc')}')",
        f"torch.{c.one('fmod', 'remainder')}({a}, {c.one(-3, 2, 4)})",
        f"torch.{c.one('maximum', 'minimum', 'gcd')}({a}, {b})",
        f"{a}.clamp({c.one(-2, 0)}, {c.one(1, 3)})",
        f"{a}.clamp(min={c.one(-1, 0.5)})",
        f"{a}.{c.one('sign', 'neg', 'abs', 'square')}()",
        f"torch.{c.one('sub', 'add')}({a}, {b}, alpha={c.one(-2, 3)})",
        f"torch.rsub({a}, {c.below(4)})",
    )


@line
def integer_bits(c):
    a = c.integer()
    return c.one(f"{a} {c.one('&', '|', '^')} {c.integer_like(a)}", f"{a} {c.one('&', '|', '^')} {c.below(8)}", f"~{a}", f"{a} {c.one('<<', '>>')} {c.one(1, 2)}")


@line
def integer_power(c):
    a = c.integer()
    return c.one(f"{a} ** {c.one(0, 1, 2, 3)}", f"{c.one(2, -1, 2.0, 0.5)} ** {a}.clamp(-4, 4)", f"{a}.float() ** 2", f"{a}.clamp(0, 3) ** {c.integer_like(a)}.clamp(0, 3)")


@line
def integer_reduction(c):
    a = c.integer(1)
    d = c.dim(a)
    keep = c.one("", ", keepdim=True")
    return c.one(
        f"{a}.{c.one('sum', 'prod', 'amax', 'amin', 'argmax', 'argmin', 'any', 'all')}({d}{keep})",
        f"{a}.{c.one('sum', 'max', 'min', 'prod', 'count_nonzero', 'any', 'all')}()",
        f"{a}.{c.one('max', 'min', 'median', 'cummax', 'cummin', 'sort')}({d})[0]",
        f"{a}.{c.one('cumsum', 'cumprod')}({d})",
        f"{a}.sum({d}, dtype=torch.{c.one('float32', 'int32')})",
        f"{a}.float().mean({d})",
    )


@line
def integer_places(c):
    a = c.integer(1)
    return c.one(
        f"{a}[{c.subscript(a)}]",
        f"{a}.flip({c.dim(a)})",
        f"{a}.roll({c.one(-1, 2)}, {c.dim(a)})",
        f"{a}.reshape(-1)",
        f"{a}.unsqueeze({c.dim(a)})",
        f"torch.cat([{a}, {c.integer_like(a)}], {c.dim(a)})",
        f"torch.stack([{a}, {c.integer_like(a)}], {c.dim(a)})",
        f"{a}.{c.one('mT', 'T')}",
        f"F.pad({a}, ({c.below(3)}, {c.below(3)}), value={c.below(3)})",
        f"{a}.expand({[c.one(1, 2)] + c.shape(a)})",
        f"{a}.repeat_interleave(2, {c.dim(a)})",
        f"{a}.unfold({c.dim(a)}, 1, 2)",
    )


@line
def integer_counts(c):
    a = c.integer()
    return c.one(
        f"F.one_hot({a} % {c.one(3, 5)}, 5)",
        f"torch.histc({a}.float(), 4, -4, 4)",
        f"torch.isin({a}, torch.tensor([0, 2]))",
        f"torch.arange({c.one(3, 6)}) + {a}.sum()",
    )


@line
def integer_matrix(c):
    a = c.integer(2)
    return c.one(f"{a} @ {a}.mT", f"{a}.float() @ {a}.float().mT", f"torch.einsum('...ij->...ji', {a})", f"{a}.{c.one('tril', 'triu')}()")


@line
def small_types(c):
    a = c.any()
    return c.one(
        f"({a} > 0).{c.one('to(torch.uint8)', 'to(torch.int8)', 'int()', 'to(torch.int16)')}",
        f"({a} > 0).to(torch.uint8) - 1",
        f"({a} > 0).to(torch.int8) * 100 + 100",
    )


@line
def narrow_integer(c):
    a = c.integer()
    return f"{a}.to(torch.{c.one('int32', 'int16', 'int8', 'int64')})"


# ---- booleans ----


@line
def boolean_arithmetic(c):
    a = c.boolean()
    return c.one(
        f"{a} + {c.one(1, 0.5, True)}",
        f"{a} * {c.one(2, -0.5)}",
        f"{a} * {c.any()}",
        f"{a}.sum()",
        f"{a}.cumsum({c.dim(a)})",
        f"{a}.sum({c.dim(a)}, keepdim=True)",
        f"{a}.float().mean()",
        f"1 - {a}.int()",
        f"torch.logical_{c.one('and', 'or', 'xor')}({a}, {c.any()})",
        f"{a}.logical_not()",
        f"{a}.{c.one('amax', 'amin', 'max', 'argmax', 'count_nonzero')}()",
        f"{a} {c.one('==', '!=', '<', '>=')} {c.boolean()}",
        f"{a}.double()",
    )


@line
def boolean_places(c):
    a = c.boolean(1)
    return c.one(f"{a}[{c.subscript(a)}]", f"{a}.flip({c.dim(a)})", f"{a}[None]", f"torch.cat([{a}, {a}], {c.dim(a)})", f"{a}.mT", f"{a}.expand({[2] + c.shape(a)})", f"{a}.{c.one('tril', 'triu')}()", f"{a}.reshape(-1)")


@line
def equality(c):
    a = c.any()
    b = c.any()
    return c.one(f"{a} {c.one('==', '!=')} {b}", f"{a}.eq({c.one(0, 1)})", f"torch.isclose({a}, {a} + {c.one(0, 1)})", f"torch.isfinite({a})", f"{a}.{c.one('ne', 'gt', 'le')}({c.one(0, 1, 0.5)})")


# ---- promotion ----


@line
def mixed(c):
    a, b = c.any(), c.any()
    return c.one(
        f"{a} {c.one('+', '-', '*')} {b}",
        f"{a} {c.one('+', '-', '*')} {b}.{c.one('sum()', 'amax()', 'float().mean()', 'double().mean()', 'int().sum()')}",
        f"{a} {c.one('+', '-', '*')} torch.tensor({c.one('2', '1.5', 'True', '2.5, dtype=torch.float64', '3, dtype=torch.int32', '[1.5]', '[2]')})",
        f"torch.where({a} > 0, {b}, {c.one(0, 1.5, 'torch.tensor(2.0)', 'torch.tensor(1)')})",
        f"torch.where({a} > 0, {c.one(1, 1.5)}, {c.one(0, -0.5)})",
        f"torch.maximum({a}, {b})",
        f"{a} / ({b}.abs() + 1)",
        f"torch.stack([{a}.sum(), {b}.sum()])",
        f"torch.cat([{a}.reshape(-1), {b}.reshape(-1)])",
    )


@line
def with_integer(c):
    n = c.integer()
    return c.one(f"{n} * {c.number()}", f"{n} + {c.number()}", f"{c.number()} - {n}", f"{n} / {c.one(2, 3.0)}", f"{n} // {c.one(2.5, -1.5)}", f"{n} % {c.one(1.5, -2.5)}", f"{c.one(1, 2.5)} / ({n}.abs() + 1)", f"{n} > {c.number()}")


@line
def as_integer(c):
    a = c.x()
    return c.one(f"({a} * {c.one(2, 5)}).{c.one('int', 'long', 'short')}()", f"{a}.round().long()", f"{a}.{c.one('floor', 'ceil')}().int()", f"{a}.sign().to(torch.int8)", f"{a}.type_as({c.any()})", f"{a}.bool()")


@line
def as_type(c):
    a = c.any()
    return c.one(f"{a}.to({c.any()}.dtype)", f"torch.zeros_like({a})", f"torch.ones_like({a}, dtype=torch.{c.one('float32', 'float64', 'int64', 'bool')})", f"torch.full_like({a}, {c.one(1, 2)})", f"{a}.new_zeros({a}.shape)", f"{a}.new_full(({a}.dim(), 2), {c.one(1, 2)})", f"torch.empty_like({a}).fill_(1)")


@line
def accumulated(c):
    a = c.x(1)
    d = c.dim(a)
    return c.one(f"{a}.sum({d}, dtype=torch.float64)", f"{a}.softmax({d}, dtype=torch.float64)", f"{a}.cumsum({d}, dtype=torch.float64)", f"{a}.mean({d}, dtype=torch.float64)", f"{a}.prod({d}, dtype=torch.float64)")


# ---- complex numbers ----


@line
def to_complex(c):
    a = c.x()
    return c.one(
        f"torch.complex({a}, {c.like(a)})",
        f"torch.polar({a}.abs() + 0.5, {c.like(a)})",
        f"torch.complex({a}, torch.zeros_like({a}))",
        f"torch.view_as_complex(torch.stack([{a}, {a}.cos()], -1))",
        f"{a} * {c.one('1j', '(1 + 2j)')}",
        f"{a} + {c.one('1j', '(0.5 - 1j)')}",
    )


@line
def of_spectrum(c):
    a = c.x(1)
    return c.one(f"torch.fft.{c.one('fft', 'rfft')}({a}, dim={c.dim(a)})", f"torch.fft.rfft({a}, n={c.one(3, 6)}, norm='{c.one('ortho', 'forward')}')", f"torch.fft.fftshift({a})")


@line
def from_spectrum(c):
    a = c.complex(1)
    return c.one(f"torch.fft.{c.one('ifft', 'fft')}({a}, dim={c.dim(a)})", f"torch.fft.irfft({a}, n={c.one(4, 5)})")


@line
def complex_arithmetic(c):
    a = c.complex()
    b = c.complex()
    return c.one(
        f"{a} {c.one('+', '-', '*')} {b}",
        f"{a} {c.one('+', '-', '*')} {c.any()}",
        f"{a} * {c.one('0.5', '1j', '(1 - 0.5j)')}",
        f"{a} / ({b}.abs() + 1)",
        f"{a} * {b}.conj()",
        f"{a}.{c.one('conj', 'neg', 'square', 'sum')}()",
        f"{a}.{c.one('sin', 'exp', 'tanh', 'cos')}()",
        f"{a}.sum({c.dim(a)})",
        f"{a}.mean({c.dim(a)})",
        f"{a}.cumsum({c.dim(a)})",
        f"{a} ** 2",
    )


@line
def complex_places(c):
    a = c.complex(1)
    return c.one(
        f"{a}[{c.subscript(a)}]",
        f"{a}.flip({c.dim(a)})",
        f"{a}.reshape(-1)",
        f"{a}.mT",
        f"{a}.mH",
        f"{a}.conj().mT",
        f"torch.cat([{a}, {c.complex(1)}], {c.dim(a)})",
        f"{a} @ {a}.mH",
        f"{a}[{c.indices([2], max(1, c.extent(a, 0)))}]",
        f"torch.einsum('...i,...i->...', {a}, {a}.conj())",
        f"torch.where({a}.real > 0, {a}, 0)",
    )


@line
def from_complex(c):
    a = c.complex()
    return c.one(f"{a}.real", f"{a}.imag", f"{a}.conj().imag", f"{a}.abs()", f"{a}.abs() ** 2", f"torch.view_as_real({a})", f"({a} * {a}.conj()).real", f"({a} + 0.1).angle()", f"{a}.norm()")
