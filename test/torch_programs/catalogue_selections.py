# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lines that select by masks of which the data decide how many elements are true, and make something of a known shape of it."""

from chooser import line


def rows(c):
    """A float, a mask of its first dimension, some rows of it, and others of the same mask."""
    a = c.x(2)
    mask = f"({a}.flatten(1)[:, {c.below(2)}] > {c.number()})"
    some = c.one(f"{a}[{mask}]", f"{a}[torch.where({mask})[0]]", f"{a}.index_select(0, {mask}.nonzero().squeeze(1))", f"{a}.transpose(0, 1)[:, {mask}].transpose(0, 1)")
    other = c.one(f"{a}.sin()[{mask}]", f"{some}.cos()", f"{some} * {c.number()}", f"{some}.flip(1)", f"{some} * {a}[:1]")
    return a, mask, some, other


def attention(c, a, some, other):
    """Of selected queries, keys, or both."""
    a, some, other = (f"{x}.flatten(1)" for x in (a, some, other))
    q, k, v = c.one((some, a, f"{a}.sin()"), (a, some, other), (some, other, some))
    causal = c.one("", ", is_causal=True") if q == some and k != a else ""
    return f"F.scaled_dot_product_attention({q}[None], {k}[None], {v}[None]{causal}).square().sum(1)"


@line
def of_rows(c):
    a, mask, some, other = rows(c)
    d = c.one(0, -len(c.shape(a)))
    along = c.one("softmax", "log_softmax", "cumsum", "cumprod", "flip", "sort")
    return c.one(
        f"({some} * {other}).{c.one('sum', 'mean', 'amax', 'amin', 'prod', 'logsumexp', 'std', 'var', 'norm')}({c.one('', 'dim=')}{d}{c.one('', ', keepdim=True')})".replace("norm(0", "norm(dim=0"),
        f"({some}.{along}({d}){'[0]' if along == 'sort' else ''} * {other}).sum({d})",
        f"{some}.repeat_interleave({c.one(2, 3)}, {d}).cumsum({d}).sum({d})",
        f"torch.cat([{some}, {c.one(a, other, f'{a}[{a}.flatten(1)[:, 0] < 0.5]')}]).cumsum(0).sum(0)",
        f"{some}[{other}.flatten(1).sum(1) > 0].sum(0)",
        f"{some}[{other} > {c.number()}].{c.one('sum()', 'cumsum(0).sum()', 'numel()')} * {c.number()}",
        f"F.{c.one('mse_loss', 'l1_loss', 'smooth_l1_loss', 'huber_loss')}({some}, {other}{c.one('', ', reduction=' + repr('sum'))})",
        f"{some}.flatten(1).t() @ {other}.flatten(1)",
        f"F.layer_norm({some}, {c.shape(a)[1:]}).pow(3).sum(0)",
        f"{some}.flatten(1).scatter(1, torch.zeros({some}.shape[0], 1, dtype=torch.long), {c.number()}).sum(0)",
        f"{some}.sum(0) / {some}.shape[0]",
        f"torch.einsum('{c.one('nd,nk->dk', 'nd,kd->nk', 'nd,nd->n', 'nd,nk')}', {some}.flatten(1), {other}.flatten(1)).square().sum()",
        f"F.pad({some}.flatten(1), ({c.one('0, 0', '1, 2')}, 0, {c.shape(a)[0] + c.one(0, 2)} - {some}.shape[0]){c.one('', f', value={c.number()}')})",
        f"F.pad({some}.flatten(1), ({c.one('0, 1', '1, 0, 2, 1')})).cumsum(0).sum(0)",
        attention(c, a, some, other),
        f"{some}.reshape(-1).{c.one('argmax', 'argmin')}() * {c.number()}",
    )


@line
def back_to_rows(c):
    a, mask, some, other = rows(c)
    where = f"torch.where({mask})[0]"
    elements, behind = f"({a} > {c.number()})", [-1] + [1] * (len(c.shape(a)) - 1)
    return c.one(
        f"{a}.index_put(({c.one(mask, where)},), {other}{c.one('', ', accumulate=True')})",
        f"{a}.index_{c.one('add', 'copy')}(0, {where}, {other})",
        f"torch.zeros_like({a}).index_add(0, {where} // 2, {other}, alpha={c.number()})",
        f"{a}.index_fill(0, {where}, {c.number()})",
        f"{a}.masked_scatter({mask}.view({behind}){c.one('', f'.expand_as({a})')}, {other})",
        f"{a}.masked_scatter({elements}, {a}[{elements}].{c.one('exp', 'sin')}())",
        f"{a}.index_put(torch.where({elements}), {a}[{elements}].{c.one('square', 'relu')}())",
    )
