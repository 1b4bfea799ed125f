# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lines of views, joins and reductions beyond those of catalogue.py."""

from chooser import line


@line
def one_dimension(c):
    a = c.x(1)
    d = c.dim(a)
    n = c.extent(a, d)
    first = c.below(n + 1)
    return c.one(
        f"{a}.select({d}, {c.one(0, -1)})",
        f"{a}.squeeze({d})",
        f"{a}.unsqueeze({d})",
        f"{a}.unflatten({d}, (-1, {c.one(1, 2)}))",
        f"{a}.split([{first}, {n - first}], {d})[{c.below(2)}]",
        f"{a}.tensor_split({c.one(2, 3)}, {d})[{c.one(0, -1)}]",
        f"{a}.tensor_split(({first},), {d})[1]",
        f"torch.stack({a}.unbind({d}), {c.dim(a)})",
        f"torch.cat({a}.chunk({c.one(2, 3)}, {d})[::-1], {d})",
        f"torch.cat([{a}.narrow({d}, {n} // 2, {n} - {n} // 2), {a}.narrow({d}, 0, {n} // 2)], {d})",
        f"{a}.swapaxes({d}, {c.dim(a)})",
    )


@line
def rearrange(c):
    a = c.x(2)
    return c.one(
        f"{a}.T.contiguous()",
        f"{a}.mT.reshape(-1)",
        f"{a}.mT.contiguous().view(-1)",
        f"{a}.mT.reshape({a}.shape)",
        f"{a}.flatten(0, 1)",
        f"{a}.flatten(-2)",
        f"{a}.ravel()",
        f"{a}.flip((0, 1))",
        f"{a}.flip((0, -1))[1:]",
        f"{a}.roll((1, -1), (0, 1))",
        f"torch.rot90({a}, {c.one(1, 2, 3)}, (0, -1))",
        f"{a}.mT.flip(-1)",
        f"{a}.view({a}.shape[0], -1)",
        f"{a}.mT.expand({[2] + c.shape(a)[:-2] + [c.shape(a)[-1], c.shape(a)[-2]]})",
        f"{a}.permute({list(range(1, len(c.shape(a))))} + [0]).clone()",
    )


@line
def broadcast(c):
    a = c.x(1)
    return c.one(
        f"{a}.unsqueeze(-1).expand({[*[-1] * len(c.shape(a)), c.one(1, 3)]})",
        f"{a}.unsqueeze(0).expand(2, *{a}.shape).reshape(-1)",
        f"{a}[..., None] * {a}[..., None, :]",
        f"{a}.unsqueeze(-1) - {a}.unsqueeze(-2)",
        f"torch.broadcast_to({a}, {[2] + c.shape(a)})",
        f"{a}.mean({c.dim(a)}, keepdim=True).expand_as({a})",
        f"torch.broadcast_tensors({a}, {c.x()})[{c.below(2)}]",
        f"sum(torch.meshgrid({a}.reshape(-1)[:3], {c.like(a)}.reshape(-1)[:2], indexing='{c.one('ij', 'xy')}'))",
        f"torch.atleast_{c.one(2, 3)}d({a})",
        f"{a}.sum_to_size({c.one(1, c.shape(a)[-1])})",
    )


@line
def repeats(c):
    a = c.x(1)
    d = c.dim(a)
    counts = [c.below(3) for _ in range(c.extent(a, d))]
    return c.one(f"{a}.repeat_interleave(torch.tensor({counts}), {d})", f"{a}.repeat({[2] + [1] * len(c.shape(a))})", f"{a}.tile(({c.one(1, 2)}, {c.one(1, 2)}))", f"torch.kron({a}, torch.tensor([1.0, -0.5], dtype={a}.dtype))", f"{a}.repeat_interleave(2)")


@line
def diagonals(c):
    a = c.x(1)
    return c.one(
        f"torch.diag({a}.reshape(-1)[:4])",
        f"torch.diag_embed({a}, {c.one(-1, 0, 1)}, 0, -1)",
        f"torch.diagflat({a}.reshape(-1)[:3], {c.one(-1, 1)})",
        f"{a}.diagonal({c.one(-1, 0, 1)}, 0, -1)",
        f"torch.block_diag({a}.reshape(1, -1)[:, :3], {c.like(a)}.reshape(-1, 1)[:2])",
        f"torch.vander({a}.reshape(-1)[:3], 3)",
        f"{a}.trace()",
        f"torch.tril({a}, -1) + torch.triu({a}, 1).mT",
        f"{a}[tuple(torch.tril_indices(2, 2))]",
    )


@line
def more_reductions(c):
    a = c.x(1)
    d = c.dim(a)
    keep = c.one("", ", keepdim=True")
    return c.one(
        f"torch.{c.one('std_mean', 'var_mean')}({a}, {d}{keep})[{c.below(2)}]",
        f"torch.aminmax({a}, dim={d}{keep})[{c.below(2)}]",
        f"{a}.{c.one('nansum', 'nanmean', 'argmin', 'count_nonzero')}({d})",
        f"{a}.norm({c.one(1, 2, 3, float('inf'), 0)}, {d}{keep})".replace("inf", "float('inf')"),
        f"torch.linalg.vector_norm({a}, {c.one(1, 2, 3)}, {d}{keep})",
        f"{a}.quantile({c.one(0.25, 0.5, 0.9)}, {d}{keep})",
        f"{a}.median()",
        f"{a}.cummin({d})[{c.below(2)}]",
        f"{a}.flip({d}).cumsum({d}).flip({d})",
        f"{a}.prod()",
        f"({a}.detach() - {a}.amax({d}, keepdim=True)).exp().sum({d}{keep})",
        f"{a}.var({d}, correction={c.one(0, 1)}{keep})",
        f"torch.logsumexp({a}, {sorted({d % len(c.shape(a)), 0})}{keep})",
        f"torch.trapezoid({a}, dim={d})",
        f"{a}.{c.one('any', 'all')}({d})",
        f"torch.amax({a}, ())",
        f"{a}.renorm(2, {d}, 1.0)",
        f"torch.dist({a}, {c.like(a)}, {c.one(1, 2)})",
    )


@line
def more_functions(c):
    a = c.x()
    b = c.like(a)
    return c.one(
        f"torch.sub({a}, {b}, alpha={c.number()})",
        f"torch.add({a}, {b}, alpha={c.number()})",
        f"torch.rsub({a}, {b})",
        f"torch.fmod({a}, {c.number(0.5, 2)})",
        f"torch.remainder({a}, {c.number(-2, -0.5)})",
        f"torch.div({a}, {c.number(0.5, 2)}, rounding_mode='{c.one('floor', 'trunc')}')",
        f"torch.xlogy({a}.abs(), {b}.abs() + 0.5)",
        f"{c.number(0.5, 2)} ** {a}",
        f"({a}.abs() + 0.5) ** {b}",
        f"{a}.clamp({b} - 1, {b})",
        f"torch.heaviside({a}, torch.tensor(0.5, dtype={a}.dtype))",
        f"torch.addcdiv({a}, {b}, {b}.abs() + 1, value={c.number()})",
        f"torch.{c.one('erfc', 'exp2', 'sgn', 'deg2rad', 'tan', 'positive', 'ceil', 'sinh', 'cosh', 'signbit', 'i0', 'nan_to_num')}({a})",
        f"F.{c.one('hardsigmoid', 'celu', 'threshold', 'softshrink', 'hardshrink', 'softmin')}({a}{{}})".format(""),
        f"F.threshold({a}, {c.number()}, {c.number()})",
        f"F.prelu({a}, torch.tensor([0.3], dtype={a}.dtype))",
        f"F.glu({a}, {c.one(0, -1)})",
        f"torch.ldexp({a}, torch.tensor(2))",
        f"torch.float_power({a}, 2)",
        f"torch.nextafter({a}, {b})",
        f"F.dropout({a}, 0.5, training=False)",
    )


@line
def losses(c):
    a = c.x(1)
    b = c.like(a, 1)
    reduction = c.one("mean", "sum", "none")
    return c.one(
        f"F.{c.one('mse_loss', 'l1_loss', 'smooth_l1_loss', 'huber_loss', 'soft_margin_loss')}({a}, {b}, reduction='{reduction}')",
        f"F.binary_cross_entropy_with_logits({a}, {b}.sigmoid(), reduction='{reduction}')",
        f"F.kl_div({a}.log_softmax(-1), {b}.softmax(-1), reduction='{c.one(reduction, 'batchmean')}')",
        f"F.cross_entropy({a}, {b}.argmax(1), reduction='{reduction}', label_smoothing={c.one(0.0, 0.1)})",
        f"F.cross_entropy({a}, {b}.softmax(1), reduction='{reduction}')",
        f"F.nll_loss({a}.log_softmax(1), {b}.argmax(1), reduction='{reduction}', ignore_index={c.one(-100, 0)})",
        f"F.gaussian_nll_loss({a}, {b}, {b}.abs() + 0.5, reduction='{reduction}')",
        f"F.hinge_embedding_loss({a}, {b}.sign(), reduction='{reduction}')",
        f"F.margin_ranking_loss({a}, {b}, {b}.detach().sign(), margin=0.1, reduction='{reduction}')",
        f"F.triplet_margin_loss({a}, {b}, {c.like(a, 1)}, reduction='{reduction}')",
        f"F.poisson_nll_loss({a}, {b}.abs(), reduction='{reduction}')",
    )


@line
def images(c):
    a = c.named(lambda x: x.is_floating_point() and x.dim() == 4)
    b = c.named(lambda x: x.is_floating_point() and x.dim() == 4)
    mode = c.one("nearest", "bilinear", "bicubic", "nearest-exact", "area")
    return c.one(
        f"F.interpolate({a}, scale_factor={c.one(2, 0.5, 1.5)}, mode='{mode}')",
        f"F.interpolate({a}, size=({c.one(2, 5)}, 3), mode='bilinear', align_corners={c.one('True', 'False')})",
        f"F.conv2d({a}, {b}[..., :2, :2], padding={c.one(0, 1)}, stride={c.one(1, 2)}, dilation={c.one(1, 1, 2)})",
        f"F.conv_transpose2d({a}, {b}[..., :2, :2], stride={c.one(1, 2)}, output_padding=0, padding={c.one(0, 1)})",
        f"F.conv2d({a}, {b}[:, :1, :2, :2], groups={a}.shape[1])",
        f"F.unfold({a}, 2, padding={c.one(0, 1)}, stride={c.one(1, 2)})",
        f"F.fold(F.unfold({a}, 2), {a}.shape[-2:], 2)",
        f"F.pixel_unshuffle({a}, {c.one(1, 2)})",
        f"F.pixel_shuffle({a}.repeat(1, 4, 1, 1), 2)",
        f"F.max_pool2d({a}, 2, {c.one(1, 2)}, padding={c.one(0, 1)}, ceil_mode={c.one('True', 'False')})",
        f"F.avg_pool2d({a}, 2, {c.one(1, 2)}, padding={c.one(0, 1)}, ceil_mode={c.one('True', 'False')}, count_include_pad={c.one('True', 'False')})",
        f"F.adaptive_max_pool2d({a}, ({c.one(1, 2)}, {c.one(1, 2, None)}))",
        f"F.lp_pool2d({a}, 2, 2)",
        f"F.group_norm({a}, {c.one(1, 2)})",
        f"F.instance_norm({a})",
        f"F.batch_norm({a}, None, None, training=True)",
        f"F.batch_norm({a}, {a}.mean((0, 2, 3)).detach(), {a}.var((0, 2, 3)).detach() + 0.5)",
        f"F.local_response_norm({a}, 2)",
        f"{a}.contiguous(memory_format=torch.channels_last)",
        f"{a}.permute(0, 2, 3, 1)",
        f"F.channel_shuffle({a}, {c.one(1, 2)})",
        f"F.pad({a}, (1, 1, {c.below(3)}, 1), mode='{c.one('reflect', 'replicate', 'circular')}')",
        f"F.grid_sample({a}, {b}[..., :2].tanh(), align_corners=False, padding_mode='{c.one('zeros', 'border', 'reflection')}')",
    )


@line
def more_products(c):
    a = c.x(2)
    b = c.like(a, 2)
    return c.one(
        f"torch.bmm({a}.reshape(1, {a}.shape[0], -1), {a}.reshape(1, {a}.shape[0], -1).mT)",
        f"torch.addmm({b}, {a}, {a}.mT, beta={c.number()}, alpha={c.number()})",
        f"torch.baddbmm({b}, {a}, {a}.mT)",
        f"torch.tensordot({a}, {b}, {c.one(1, 2)})",
        f"torch.tensordot({a}, {b}, ([0], [0]))",
        f"{a} @ {b}[..., 0]",
        f"{a}[0] @ {b}",
        f"torch.mv({a}, {b}[0])",
        f"torch.linalg.multi_dot([{a}, {a}.mT, {b}])",
        f"torch.dot({a}[0], {b}[0])",
        f"torch.inner({a}, {b})",
        f"torch.cross({a}, {b}, dim={c.dim(a)})",
        f"torch.einsum('b...i,b...j->b...ij', {a}, {b})",
        f"torch.einsum('...ij,...ij->...', {a}, {b})",
        f"torch.einsum('ii->i', {a})",
        f"torch.matrix_power({a}, 2)",
        f"torch.linalg.inv({a} @ {a}.mT + torch.eye({a}.shape[-2], dtype={a}.dtype))",
        f"torch.linalg.det({a})",
        f"F.bilinear({a}, {b}, torch.ones(2, {a}.shape[-1], {b}.shape[-1]))",
        f"F.scaled_dot_product_attention({a}, {b}, {b}, attn_mask=({a} @ {b}.mT > 0) | (torch.eye({a}.shape[-2]) > 0))",
        f"F.scaled_dot_product_attention({a}, {b}, {b}, attn_mask={a} @ {b}.mT)",
        f"F.scaled_dot_product_attention({a}[None, None], {b}[None, None], {b}[None, None], is_causal=True)",
        f"F.multi_head_attention_forward({a}, {b}, {b}, {a}.shape[-1], 1, torch.ones(3 * {a}.shape[-1], {a}.shape[-1]) * 0.1, None, None, None, False, 0.0, torch.eye({a}.shape[-1]), None)[0]",
    )
