# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules that call one operator after the other, each on a parameter of its own: values and gradients of each are
compared one by one."""

import torch
from torch import nn
from torch.nn import functional as F
from torchvision import ops

from corners import CORNERS
from extremes import EXTREMES
from factored import FACTORED
from numerics import NUMERICS
from special import LIKELIHOODS, SPECIAL as SPECIAL_FUNCTIONS

INDEX = torch.tensor([[0, 2, 1], [1, 0, 2]])
MASK = torch.tensor([[True, False, True], [False, True, True]])


def whole(x):
    """Integers that are not known when a model is compiled."""
    return (x.detach() * 4).round().long()


def positive(f):
    """Of arguments from 0.2 to 2."""
    return lambda x: f(x.abs() % 1.8 + 0.2)


def unit(f):
    """Of arguments from -0.9 to 0.9."""
    return lambda x: f(x.sin() * 0.9)


ELEMENTWISE = {
    "add": lambda x: torch.add(x, x.exp(), alpha=0.5), "sub": lambda x: 2 - x, "rsub": lambda x: torch.rsub(x, 3, alpha=2),
    "mul_bool": lambda x: x * (x > 0), "div": lambda x: x / 3, "div_floor": lambda x: x * torch.div(x, 0.3, rounding_mode="floor"),
    "div_trunc": lambda x: x * torch.div(x, 0.3, rounding_mode="trunc"), "int_div": lambda x: x / (INDEX + 1),
    "floor_divide": lambda x: x * ((INDEX - 3) // 2), "remainder": lambda x: torch.remainder(x, 0.7),
    "remainder_int": lambda x: x * torch.remainder(INDEX - 2, 2), "fmod": lambda x: torch.fmod(x, 0.7),
    "pow2": lambda x: x**2, "pow3": lambda x: x**3, "pow_half": positive(lambda x: x**0.5), "pow_real": positive(lambda x: x**1.7),
    "pow_tensor": positive(lambda x: x ** (x + 1)), "pow_scalar": lambda x: 2**x, "pow_negative": positive(lambda x: x**-1),
    "maximum": lambda x: torch.maximum(x, x.flip(1)), "minimum": lambda x: torch.minimum(x, torch.tensor(0.1)),
    "atan2": lambda x: torch.atan2(x, x.flip(1) + 3), "logaddexp": lambda x: torch.logaddexp(x, -x),
    "xlogy": positive(lambda x: torch.xlogy(x, x + 1)), "hypot": lambda x: torch.hypot(x, x + 4),
    "addcmul": lambda x: torch.addcmul(x, x, x.exp(), value=0.3), "addcdiv": lambda x: torch.addcdiv(x, x, x.exp(), value=0.3),
    "lerp": lambda x: torch.lerp(x, x.exp(), 0.3), "lerp_tensor": lambda x: torch.lerp(x, x.exp(), x.sigmoid()),
    "neg": lambda x: -x, "abs": torch.abs, "sign": lambda x: x * x.sign(), "square": torch.square,
    "reciprocal": positive(torch.reciprocal), "exp": torch.exp, "exp2": torch.exp2, "expm1": torch.expm1, "log": positive(torch.log),
    "log1p": positive(torch.log1p), "log2": positive(torch.log2), "log10": positive(torch.log10), "sqrt": positive(torch.sqrt),
    "rsqrt": positive(torch.rsqrt), "sin": torch.sin, "cos": torch.cos, "tan": unit(torch.tan), "asin": unit(torch.asin),
    "acos": unit(torch.acos), "atan": torch.atan, "sinh": torch.sinh, "cosh": torch.cosh, "asinh": torch.asinh,
    "acosh": lambda x: torch.acosh(x.abs() + 1.5), "atanh": unit(torch.atanh), "erf": torch.erf, "erfc": torch.erfc,
    "floor": lambda x: x * x.floor(), "ceil": lambda x: x * x.ceil(), "trunc": lambda x: x * x.trunc(), "frac": torch.frac,
    "round": lambda x: x * x.round(), "logit": lambda x: torch.logit(x.sigmoid(), eps=0.3), "sinc": torch.sinc,
    "clamp": lambda x: x.clamp(-0.5, 0.5), "clamp_min": lambda x: x.clamp(min=0.1), "clamp_tensor": lambda x: x.clamp(max=x.flip(1)),
    "where": lambda x: torch.where(MASK, x, -x), "where_scalar": lambda x: torch.where(MASK, x, 2.0),
    "masked_fill": lambda x: x.masked_fill(MASK, 0.5), "nan_to_num": lambda x: torch.nan_to_num(torch.where(MASK, x, float("inf")), posinf=2.0),
    "compare": lambda x: x * (x > 0.1).float() + x * (x <= x.flip(1)) + x * (x != 0), "bits": lambda x: x * ((INDEX & 1) | (INDEX ^ 3)),
    "logical": lambda x: x * (MASK.logical_and(x > 0) | MASK.logical_not()), "shift": lambda x: x * ((INDEX << 2) >> 1),
    "not": lambda x: x * (~INDEX) * (~MASK), "is": lambda x: x * torch.isfinite(x) * ~torch.isnan(x) * ~torch.isinf(x),
    "complex_is": lambda x: x * torch.isfinite(torch.complex(x, 1 / (x - x[0]))) + x * torch.isnan(torch.complex(x, (x - x[1]).log())) - x * torch.isinf(torch.complex((x - x[0]).abs().log(), x)),
    "to": lambda x: x.double().to(torch.float32) * 2, "type_as": lambda x: x * INDEX.type_as(x),
}

ACTIVATIONS = {
    "relu": F.relu, "relu6": lambda x: F.relu6(5 * x), "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu, "mish": F.mish, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "hardtanh": lambda x: F.hardtanh(x, -0.5, 0.7),
    "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid, "leaky_relu": lambda x: F.leaky_relu(x, 0.2), "elu": lambda x: F.elu(x, 0.7),
    "celu": lambda x: F.celu(x, 0.7), "selu": F.selu, "softplus": F.softplus, "softplus_beta": lambda x: F.softplus(x, 2.0),
    "softsign": F.softsign, "logsigmoid": F.logsigmoid, "threshold": lambda x: F.threshold(x, 0.1, 20),
    "prelu": lambda x: F.prelu(x[..., None], x.mean(0)), "glu": lambda x: F.glu(x.t(), 1), "hardshrink": F.hardshrink,
    "softshrink": F.softshrink, "tanhshrink": F.tanhshrink, "softmax": lambda x: x.softmax(0), "log_softmax": lambda x: x.log_softmax(1),
    "softmin": lambda x: F.softmin(x, 1), "layer_norm": lambda x: F.layer_norm(x, (3,)),
    "layer_norm_mean": lambda x: x * torch.native_layer_norm(x, (3,), None, None, 1e-5)[1], "layer_norm_rstd": lambda x: x * torch.native_layer_norm(x, (3,), None, None, 1e-5)[2],
    "group_norm_mean": lambda x: torch.native_group_norm(x.view(2, 3, 1), None, None, 2, 3, 1, 1, 1e-5)[1],
    "rms_norm": lambda x: F.rms_norm(x, (3,)),
    "group_norm": lambda x: F.group_norm(x.view(1, 6, 1).expand(2, 6, 4) * torch.arange(4), 3),
    "instance_norm": lambda x: F.instance_norm(x.view(1, 2, 3).exp()),
    "local_response_norm": lambda x: F.local_response_norm(x.view(1, 6, 1), 3), "normalize": lambda x: F.normalize(x, dim=1),
    "batch_norm": lambda x: F.batch_norm(x, x.new_zeros(3), x.new_ones(3), training=False),
    "batch_norm_no_stats": lambda x: F.batch_norm(x, None, None, training=True),
    "safe_softmax": lambda x: torch.ops.aten._safe_softmax(x.masked_fill(torch.tensor([[True, True, False], [True, False, False]]), -torch.inf), 0),
}

def checked(x):
    """x, after a check that takes a value of the batch for a number: an assertion, which is not compiled."""
    torch._check(torch.ops.aten._is_all_true(x > -9).item())
    return x


REDUCTIONS = {
    "sum": torch.sum, "sum_dim": lambda x: x.sum(1, keepdim=True), "sum_bool": lambda x: x * MASK.sum(0), "mean": torch.mean,
    "mean_dim": lambda x: x.mean((0, 1)), "prod": torch.prod, "prod_dim": lambda x: x.prod(0), "var": lambda x: x.var(1),
    "var_all": lambda x: x.var(unbiased=False), "std": lambda x: x.std(0, correction=0), "var_mean": lambda x: torch.var_mean(x, 1)[0],
    "std_mean": lambda x: torch.std_mean(x, dim=0, keepdim=True)[1], "amax": lambda x: x.amax(1), "amin": lambda x: x.amin((0, 1)),
    "max": torch.max, "min": torch.min, "max_dim": lambda x: x.max(1).values, "min_dim": lambda x: x.min(0, keepdim=True).values,
    "argmax": lambda x: x * x.argmax(), "argmin": lambda x: x * x.argmin(1, keepdim=True), "all": lambda x: x * (x > -9).all(1, keepdim=True),
    "any": lambda x: x * (x > 9).any(), "norm": torch.norm, "norm1": lambda x: x.norm(1, 1), "norm3": lambda x: torch.linalg.vector_norm(x, 3, 1),
    "norm_inf": lambda x: torch.linalg.vector_norm(x, float("inf"), 1), "logsumexp": lambda x: x.logsumexp(1), "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: x.cumprod(1), "logcumsumexp": lambda x: x.logcumsumexp(1), "diff": lambda x: x.diff(dim=1),
    "count_nonzero": lambda x: x * x.count_nonzero(), "kthvalue": lambda x: x.kthvalue(2, 1).values, "median": torch.median,
    "median_dim": lambda x: x.median(1).values, "sort": lambda x: x.sort(1, descending=True).values, "argsort": lambda x: x * x.argsort(1),
    "topk": lambda x: x.topk(2, 1, largest=False).values,
    "is_all_true": lambda x: x * torch.ops.aten._is_all_true(x > -9), "is_any_true": lambda x: x * torch.ops.aten._is_any_true(x > 9),
    "checked": lambda x: checked(x).exp(),
}

VIEWS = {
    "view": lambda x: x.view(3, -1), "reshape": lambda x: x.reshape(-1), "flatten": torch.flatten, "unflatten": lambda x: x.view(6).unflatten(0, (2, -1)),
    "squeeze": lambda x: x[:, None, :, None].squeeze(), "squeeze_dim": lambda x: x[:, None].squeeze(1), "unsqueeze": lambda x: x.unsqueeze(-1),
    "expand": lambda x: x[:, None].expand(-1, 4, 3), "expand_as": lambda x: x[:1].expand_as(x), "broadcast": lambda x: torch.broadcast_to(x, (4, 2, 3)),
    "transpose": lambda x: x.transpose(0, 1), "t": lambda x: x.t(), "mT": lambda x: x.mT, "T": lambda x: x.T, "permute": lambda x: x[None].permute(2, 0, 1),
    "movedim": lambda x: x[None].movedim(0, 2), "select": lambda x: x.select(1, -1), "slice": lambda x: x[:, ::2], "narrow": lambda x: x.narrow(1, 1, 2),
    "split": lambda x: x.split(2, 1)[1], "split_sizes": lambda x: x.split([1, 2], 1)[1], "chunk": lambda x: x.chunk(2, 1)[0], "parts_of_nothing": lambda x: torch.cat([*x[:0].chunk(2), *x[:0].split(2), x]),
    "tensor_split": lambda x: x.tensor_split(2, 1)[0], "unbind": lambda x: x.unbind(1)[2], "unfold": lambda x: x.unfold(1, 2, 1),
    "diagonal": lambda x: x.diagonal(1),
    "pad_sequence": lambda x: nn.utils.rnn.pad_sequence([x[:1], x, x[1:].exp()], batch_first=True, padding_value=0.5),
    "pad_sequence_left": lambda x: nn.utils.rnn.pad_sequence([x[0], x[1, :2].exp(), x[0, :0]], padding_side="left"),
    "cat": lambda x: torch.cat([x, x.exp()], 1), "stack": lambda x: torch.stack([x, x.exp()], -1),
    "repeat": lambda x: x.repeat(2, 1, 2), "tile": lambda x: x.tile(2), "repeat_interleave": lambda x: x.repeat_interleave(2, 1),
    "flip": lambda x: x.flip(0, 1), "roll": lambda x: x.roll(1, 1), "roll_all": lambda x: x.roll(2), "triu": lambda x: x.triu(1), "tril": torch.tril,
    "pad": lambda x: F.pad(x, (1, 2), value=0.5), "pad_negative": lambda x: F.pad(x, (-1, 1, 2, 0)),
    "reflect": lambda x: F.pad(x[None], (2, 1), mode="reflect"), "replicate": lambda x: F.pad(x[None], (2, 1), mode="replicate"),
    "circular": lambda x: F.pad(x[None], (2, 1), mode="circular"), "pixel_shuffle": lambda x: F.pixel_shuffle(x.view(1, 6, 1, 1).repeat(1, 2, 2, 1)[:, :8], 2),
    "pixel_unshuffle": lambda x: F.pixel_unshuffle(x.repeat(2, 2)[None, None, :, :4], 2), "channel_shuffle": lambda x: F.channel_shuffle(x.view(1, 6, 1, 1), 3),
    "diag_embed": lambda x: torch.diag_embed(x, 1), "hstack": lambda x: torch.hstack([x, x.exp()]), "vstack": lambda x: torch.vstack([x[0], x]),
    "meshgrid": lambda x: torch.meshgrid(x[0], x[:, 0], indexing="xy")[1], "arange": lambda x: x * torch.arange(1, 2.5, 0.5),
    "linspace": lambda x: x * torch.linspace(-1, 2, 3), "eye": lambda x: x @ torch.eye(3, 2).to(x), "full": lambda x: x + torch.full((2, 1), 3),
    "like": lambda x: x * torch.full_like(x, 2) + torch.ones_like(x) + x.new_zeros(3), "triu_indices": lambda x: x * torch.triu_indices(2, 2)[:, :1],
    "clone": lambda x: x.clone().contiguous(), "matmul": lambda x: x @ x.t(), "matmul_batch": lambda x: x[None].expand(2, 2, 3) @ x[0],
    "addmm": lambda x: torch.addmm(x, x @ x.t(), x, beta=0.5, alpha=2), "baddbmm": lambda x: torch.baddbmm(x[None], x[None] @ x.t(), x[None]),
    "outer": lambda x: torch.outer(x[0], x[1]), "einsum": lambda x: torch.einsum("ij,kj->ki", x, x.exp()), "tensordot": lambda x: torch.tensordot(x, x, dims=([1], [1])),
    "inner": lambda x: torch.inner(x, x), "bilinear": lambda x: F.bilinear(x, x, x[None, 0, :, None] * x[1]),
    "attention": lambda x: F.scaled_dot_product_attention(x[None, None], x[None, None].exp(), x[None, None], is_causal=True),
    "attention_mask": lambda x: F.scaled_dot_product_attention(x[None], x[None].exp(), x[None], attn_mask=MASK[:, :2]),
    "attention_gqa": lambda x: F.scaled_dot_product_attention(x[None, None].repeat(1, 4, 1, 1), x[None, None].repeat(1, 2, 1, 1), x.exp()[None, None].repeat(1, 2, 1, 1), enable_gqa=True),
}


def written(f):
    """Of a copy, which f writes into and returns."""
    return lambda x: f(x.clone())


INDICES = {
    "index": lambda x: x[INDEX[:, :2] % 2], "index_pair": lambda x: x[[0, 1, 1], [2, 0, 2]], "index_middle": lambda x: x[None, :, [0, 2]],
    "index_apart": lambda x: x[None].expand(2, 2, 3)[[0, 1], :, [2, 0]], "index_put_mask": lambda x: x.index_put((MASK,), x[0, 0]), "gather": lambda x: x.gather(1, INDEX),
    "index_select": lambda x: x.index_select(1, INDEX[1]), "take_along_dim": lambda x: x.take_along_dim(INDEX[:1], 1),
    "embedding": lambda x: F.embedding(INDEX % 2, x), "embedding_padding": lambda x: F.embedding(INDEX % 2, x, padding_idx=1),
    "one_hot": lambda x: x[..., None] * F.one_hot(INDEX, 4), "scatter": lambda x: x.scatter(1, INDEX[:, :2], x.exp()[:, :2]),
    "scatter_added": lambda x: x * torch.scatter(whole(x).float(), 1, INDEX * 0, whole(x) / 2, reduce="add"),
    "scatter_multiplied": lambda x: x * whole(x).scatter(1, INDEX * 0, whole(x) + 1, reduce="multiply"),
    "scatter_multiplied_value": lambda x: x * whole(x).float().scatter_(1, INDEX[:, :2], 2.5, reduce="multiply"),
    "scatter_value": lambda x: x.scatter(1, INDEX[:, :2], 0.5), "scatter_add": lambda x: x.scatter_add(1, INDEX * 0, x.exp()),
    "scatter_reduce": lambda x: x.scatter_reduce(1, INDEX, x.exp(), "sum"), "index_add": lambda x: x.index_add(1, INDEX[0] * 0, x.exp(), alpha=2),
    "index_copy": lambda x: x.index_copy(1, INDEX[0], x.exp()), "index_fill": lambda x: x.index_fill(1, INDEX[0, :2], 0.5),
    "index_put": lambda x: x.index_put((INDEX % 2, INDEX), x.exp()), "index_put_add": lambda x: x.index_put((INDEX * 0, INDEX * 0), x.exp(), accumulate=True),
    "scatter_mean": lambda x: x.scatter_reduce(1, INDEX * 0, x.exp(), "mean", include_self=False),
    "scatter_amax": lambda x: x.scatter_reduce(1, INDEX[:, :2], x.exp()[:, :2], "amax"), "scatter_prod": lambda x: x.scatter_reduce(1, INDEX[:, :2], x.exp()[:, :2], "prod", include_self=False),
    "index_reduce": lambda x: x.index_reduce(1, INDEX[0], x.exp(), "mean"), "bag": lambda x: F.embedding_bag(INDEX[0] % 2, x, INDEX[1, 1:].sort().values),
    "bag_sum": lambda x: F.embedding_bag(INDEX % 2, x, mode="sum"), "bag_max": lambda x: F.embedding_bag(INDEX % 2, x, mode="max"),
    "masked_scatter": lambda x: x.masked_scatter(MASK, x.flip(1).exp()), "masked_scatter_rows": lambda x: x.masked_scatter(MASK[:1], x.exp().flatten()),
    "masked_scatter_": written(lambda x: x[:, :2].masked_scatter_(MASK[:, 1:], x[1, 1:].exp().repeat(2)) + x[:, 1:]), "diagonal_scatter": lambda x: x.diagonal_scatter(x[1, :2].exp(), 1),
    "slice_scatter": lambda x: x.slice_scatter(x[:, :2].exp(), 1, 1), "select_scatter": lambda x: x.select_scatter(x[0].exp(), 0, 1),
    "add_": written(lambda x: x.add_(x.exp())), "relu_": written(F.relu_), "fill_": written(lambda x: x[:, 1].fill_(0.5) * x[0, 0]), "zero_": written(lambda x: x + x[0].zero_()),
    "copy_": written(lambda x: x.mul(x[:, 0].copy_(x[:, 1])[:, None])), "view_write": written(lambda x: (x.view(6)[::2].mul_(2), x.t())[1]),
    "chain_write": written(lambda x: (x.t()[1:].unsqueeze(0).exp_(), x.flatten() * x.view(-1))[1]), "narrow_write": written(lambda x: (x.narrow(1, 0, 2).neg_(), x)[1]),
    "to_copy": written(lambda x: (x.to(x.dtype, copy=True).add_(1), x)[1]), "type_as_self": written(lambda x: (x.type_as(x.exp()).add_(1), x)[1]),
    "masked_fill_": written(lambda x: x.masked_fill_(MASK, 0.25)), "swap": written(lambda x: x.t().mul_(2).t()),
}


def image(x):
    """A parameter of two rows and three columns as an image [1, 2, 5, 6]."""
    return torch.sin(x[None, :, :, None].repeat(1, 1, 2, 6)[:, :, :5] * torch.arange(1.0, 7.0))


WINDOWS = {
    "conv1d": lambda x: F.conv1d(image(x)[:, :, 0], x[:, None].expand(2, 2, 3), stride=2, padding=1),
    "conv2d": lambda x: F.conv2d(image(x), x[:, None, :, None].expand(2, 2, 3, 2), dilation=(1, 2)),
    "conv2d_valid": lambda x: F.conv2d(image(x), x[:, None, None].expand(2, 2, 1, 3), padding="valid"),
    "conv2d_same": lambda x: F.conv2d(image(x)[0], x[:, None, None].expand(2, 2, 2, 3), padding="same"),
    "conv2d_groups": lambda x: F.conv2d(image(x), x[:, None, None].expand(2, 1, 2, 3), bias=x[:, 0], groups=2),
    "conv3d": lambda x: F.conv3d(image(x)[:, None], x[:, None, None, None].expand(2, 1, 2, 2, 3)),
    "conv_transpose1d": lambda x: F.conv_transpose1d(image(x)[:, :, 0], x[:, None], stride=2, output_padding=1),
    "conv_transpose2d": lambda x: F.conv_transpose2d(image(x), x[:, None, None].expand(2, 3, 2, 3), stride=2, padding=1),
    "max_pool1d": lambda x: F.max_pool1d(image(x)[0], 2), "max_pool2d": lambda x: F.max_pool2d(image(x), 3, 2, 1),
    "max_pool2d_ceil": lambda x: F.max_pool2d(image(x), 2, ceil_mode=True), "max_pool3d": lambda x: F.max_pool3d(image(x), 2),
    "max_pool_indices": lambda x: F.max_pool2d(image(x), 2, return_indices=True)[1] * image(x)[:, :, :2, :3],
    "avg_pool1d": lambda x: F.avg_pool1d(image(x)[0], 3, 1, 1), "avg_pool2d": lambda x: F.avg_pool2d(image(x), 3, 2, 1, count_include_pad=False),
    "avg_pool2d_ceil": lambda x: F.avg_pool2d(image(x), 2, ceil_mode=True), "avg_pool3d": lambda x: F.avg_pool3d(image(x), 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(image(x), (2, 4)), "adaptive_avg_pool1d": lambda x: F.adaptive_avg_pool1d(image(x)[0], 1),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(image(x), (1, 3)), "unfold": lambda x: F.unfold(image(x), (2, 3), padding=1, stride=2),
    "fold": lambda x: F.fold(image(x).flatten(2).repeat(1, 2, 1)[:, :4, :20], (5, 6), 2), "nearest": lambda x: F.interpolate(image(x), scale_factor=2),
    "nearest_size": lambda x: F.interpolate(image(x), (7, 4)), "nearest_exact": lambda x: F.interpolate(image(x), (7, 4), mode="nearest-exact"),
    "bilinear": lambda x: F.interpolate(image(x), scale_factor=1.7, mode="bilinear"), "linear": lambda x: F.interpolate(image(x)[0], 9, mode="linear"),
    "bilinear_corners": lambda x: F.interpolate(image(x), (3, 9), mode="bilinear", align_corners=True),
    "bicubic": lambda x: F.interpolate(image(x), (8, 9), mode="bicubic"), "trilinear": lambda x: F.interpolate(image(x)[None], (3, 4, 5), mode="trilinear"),
}

GRID = torch.tensor([[[-1.2, 0.3], [0.1, -0.4]], [[0.9, 1.0], [0.45, 0.77]]])

WINDOWS |= {
    "grid_sample": lambda x: F.grid_sample(image(x), GRID[None].to(x), align_corners=False),
    "grid_sample_border": lambda x: F.grid_sample(image(x), GRID[None].to(x) * x[0, 0].sigmoid(), padding_mode="border", align_corners=True),
    "grid_sample_places": lambda x: F.grid_sample(image(x), (x.t() * 0.5).reshape(1, 1, 3, 2).tanh(), align_corners=False),
    "fake_quantize": lambda x: torch.fake_quantize_per_tensor_affine(x, 0.25, 1, -4, 3), "dropout_": lambda x: F.dropout(x.clone(), 0.0, inplace=True),
    "fake_quantize_channels": lambda x: torch.fake_quantize_per_channel_affine(x, torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0, 1, 2], dtype=torch.int32), 1, -4, 3),
}

REGIONS = torch.tensor([[0, 1.2, 0.7, 9.6, 7.9], [0, -1, 2, 3, 2.3], [0, 4, 5, 4, 13]])
"""Of images [1, C, 5, 6] at half of their size: inside, across an edge, thin and across another one."""


def places(x, *shape):
    """A parameter as places of a grid, some of them outside of the image."""
    count = torch.Size(shape).numel()
    return (x.flatten().repeat(count // 6 + 1)[:count] * torch.arange(1.0, count + 1.0).cos() * 1.7).view(shape)


def cube(x):
    """A parameter as an image [1, 2, 3, 3, 2]."""
    return torch.sin(x[None, :, :, None, None] * torch.arange(1.0, 7.0).view(3, 2) * 0.7)


def matrices(x, n):
    """A parameter as two well-conditioned matrices of n rows."""
    return torch.cos(x.flatten()[:2, None, None] + torch.arange(1.0, n * n + 1.0).view(n, n) ** 1.5) * 0.3 + torch.eye(n).flip(0)


SAMPLED = {
    "nearest": lambda x: F.grid_sample(image(x), 1.1 * GRID[None].to(x), mode="nearest", padding_mode="border", align_corners=False),
    "bicubic": lambda x: F.grid_sample(image(x), places(x, 1, 3, 2, 2), mode="bicubic", align_corners=False),
    "bicubic_border": lambda x: F.grid_sample(image(x), places(x, 1, 3, 2, 2), mode="bicubic", padding_mode="border", align_corners=True),
    "bicubic_reflection": lambda x: F.grid_sample(image(x), places(x, 1, 3, 2, 2), mode="bicubic", padding_mode="reflection", align_corners=False),
    "reflection": lambda x: F.grid_sample(image(x), places(x, 1, 3, 2, 2) * 3, padding_mode="reflection", align_corners=False),
    "reflection_corners": lambda x: F.grid_sample(image(x), places(x, 1, 3, 2, 2) * 3, padding_mode="reflection", align_corners=True),
    "reflection_single": lambda x: F.grid_sample(image(x)[:, :, :1], places(x, 1, 3, 2, 2), padding_mode="reflection", align_corners=True),
    "volume": lambda x: F.grid_sample(cube(x), places(x, 1, 2, 2, 1, 3), align_corners=False),
    "volume_corners": lambda x: F.grid_sample(cube(x), places(x, 1, 2, 2, 1, 3), padding_mode="reflection", align_corners=True),
    "volume_nearest": lambda x: F.grid_sample(cube(x), places(x, 1, 2, 2, 1, 3).detach(), mode="nearest", padding_mode="border", align_corners=True),
    "affine_grid": lambda x: F.affine_grid(x[None], (1, 5, 3, 4), align_corners=False), "affine_grid_corners": lambda x: F.affine_grid(x[None], (1, 5, 2, 4), align_corners=True),
    "affine_grid_3d": lambda x: F.affine_grid(x.repeat(2, 2)[None, :3, :4], (1, 1, 2, 3, 4), align_corners=True),
    "max_unpool2d": lambda x: F.max_unpool2d(*F.max_pool2d(image(x), 2, return_indices=True), 2, output_size=(5, 6)),
    "max_unpool3d": lambda x: F.max_unpool3d(*F.max_pool3d(cube(x)[0], (1, 2, 2), return_indices=True), (1, 2, 2), output_size=(3, 3, 2)),
    "roi_align": lambda x: ops.roi_align(image(x), REGIONS.to(x), (2, 3), 0.5, 2, aligned=True),
    "roi_align_adaptive": lambda x: ops.roi_align(image(x), REGIONS.to(x), (3, 2), 0.5), "roi_align_adaptive_aligned": lambda x: ops.roi_align(image(x), REGIONS.to(x), 1, 0.5, aligned=True),
    "deform_conv2d": lambda x: ops.deform_conv2d(image(x), places(x, 1, 12, 2, 5), x[:, None, :, None].expand(2, 2, 3, 2).cos(), x[:, 0], dilation=(1, 1), mask=places(x.flip(0), 1, 6, 2, 5), stride=(2, 1)),
    "deform_conv2d_groups": lambda x: ops.deform_conv2d(image(x), places(x, 1, 16, 5, 5), x[:, None, :2, None].expand(2, 1, 2, 2).cos(), padding=1, dilation=(2, 3)),
}

def signal(x, count):
    """A parameter as a signal [1, count]."""
    return torch.sin(x.flatten().repeat(count // 6 + 1)[None, :count] * 2 * torch.arange(1.0, count + 1.0).cos())


def real(f):
    """Of complex numbers, their parts."""
    return lambda x: torch.view_as_real(f(x).resolve_conj())


def pairs(x):
    """Complex numbers of a parameter."""
    return torch.complex(x, x.exp() - 1)


def written_part(z, part):
    """With one part of the numbers in a column replaced."""
    z = z.clone()
    part(z)[:, 1] = 0.5
    return z


FACTORS = torch.tensor([[1 + 2j, -0.5j, 0.3], [2, 1j, -1 - 1j]])


def factors(x):
    return FACTORS.to(pairs(x).dtype)


COMPLEX = {
    "as_complex": lambda x: torch.view_as_complex(x.repeat(1, 2).view(2, 3, 2)).abs(), "polar": real(lambda x: torch.polar(x.exp(), x * 3)),
    "real": lambda x: pairs(x).real, "imag": lambda x: (pairs(x) * 1j).imag, "conj": real(lambda x: pairs(x).conj() * pairs(x.t().reshape(2, 3))),
    "abs": lambda x: (pairs(x) * (x > 0)).abs(), "angle": lambda x: pairs(x).angle() + x.angle(), "sgn": real(lambda x: (pairs(x) * (x > 0)).sgn()),
    "add": real(lambda x: pairs(x) + x.exp()[0]), "add_alpha": real(lambda x: torch.add(x, pairs(x), alpha=0.5)), "add_number": real(lambda x: pairs(x) + (1 + 2j)),
    "sub": real(lambda x: 2 - pairs(x) - FACTORS), "mul": real(lambda x: pairs(x) * FACTORS * x.sin()), "mul_number": real(lambda x: x * (0.5 - 1j) * 2),
    "div": real(lambda x: x / pairs(x.abs() + 1)), "div_real": real(lambda x: pairs(x) / x.exp()), "div_number": real(lambda x: FACTORS / (pairs(x) + 3) / 2),
    "neg": real(lambda x: -pairs(x)), "sum": real(lambda x: pairs(x).sum(1)), "mean": real(lambda x: pairs(x).mean()), "reciprocal": real(lambda x: pairs(x.exp()).reciprocal()),
    "exp": real(lambda x: pairs(x).exp()), "log": real(lambda x: pairs(x).log()), "sqrt": real(lambda x: pairs(x).sqrt()), "square": real(lambda x: pairs(x).square()),
    "sin": real(lambda x: pairs(x).sin()), "cos": real(lambda x: pairs(x * 2).cos()), "sinh": real(lambda x: pairs(x * 2).sinh()), "cosh": real(lambda x: pairs(x).cosh()),
    "tanh": real(lambda x: pairs(x * 2).tanh()),
    "pow3": real(lambda x: pairs(x) ** 3), "pow_negative": real(lambda x: pairs(x.exp()) ** -2), "pow_real": real(lambda x: pairs(x.exp()) ** 1.5),
    "norm": lambda x: torch.linalg.vector_norm(pairs(x), dim=1), "cumsum": real(lambda x: pairs(x).cumsum(1)),
    "matmul": real(lambda x: pairs(x) @ pairs(x).mH), "bmm": real(lambda x: torch.bmm(pairs(x)[None], factors(x).mT[None])),
    "einsum": real(lambda x: torch.einsum("ij,kj->ik", pairs(x), factors(x))), "linear": real(lambda x: F.linear(pairs(x), factors(x), factors(x)[0, :2])),
    "addmm": real(lambda x: torch.addmm(factors(x)[:, :2], pairs(x), factors(x).t(), beta=0.5, alpha=2)), "vdot": real(lambda x: torch.vdot(pairs(x[0]), pairs(x[1]))),
    "views": real(lambda x: pairs(x).t().reshape(2, 3).unsqueeze(1).expand(2, 2, 3).permute(2, 0, 1)[1:, :, 0].flatten()),
    "cat": real(lambda x: torch.cat([pairs(x), x, FACTORS], 1)), "stack": real(lambda x: torch.stack([pairs(x), pairs(x).conj()])), "roll": real(lambda x: pairs(x).roll(1, 1).flip(0)),
    "pad": real(lambda x: F.pad(pairs(x), (1, 2), value=0.5)), "where": real(lambda x: torch.where(MASK, pairs(x), 2.0)), "masked_fill": real(lambda x: pairs(x).masked_fill(MASK, 2.0)),
    "index": real(lambda x: pairs(x)[INDEX[:, 0], INDEX[:, 0] + 1 - INDEX[:, 0]]), "gather": real(lambda x: pairs(x).gather(1, INDEX)), "split": real(lambda x: pairs(x).split([1, 2], 1)[1]),
    "ones": real(lambda x: pairs(x) * torch.ones_like(pairs(x)) + torch.zeros(3, dtype=torch.complex64) + torch.full((2, 1), 1 + 1j)),
    "to": real(lambda x: x.to(torch.complex64) * pairs(x)),
    "alpha": real(lambda x: torch.add(pairs(x), pairs(x + 1), alpha=2j) - torch.sub(x, pairs(x), alpha=1 - 1j) + torch.rsub(pairs(x), x, alpha=0.5j)),
    "lerp_by_complex": real(lambda x: torch.lerp(pairs(x), pairs(x) * 2j, pairs(x)) + torch.lerp(pairs(x), 1j * pairs(x), 0.3j)),
    "diff_behind_reals": real(lambda x: torch.diff(pairs(x), prepend=x)),
    "rotate": lambda x: torch.view_as_real(torch.view_as_complex(x.repeat(1, 2).view(2, 3, 2)) * torch.polar(torch.ones(2, 3), torch.outer(torch.arange(2.0), 10.0 ** -torch.arange(3.0)))).flatten(1),
}

def squares(x):
    """Two complex matrices far from singular ones."""
    return torch.stack([pairs(x)[:, :2], pairs(x.exp())[:, 1:]]) + 3 * torch.eye(2)


COMPLEX_SOLVED = {
    "solve": real(lambda x: torch.linalg.solve(squares(x), pairs(x).expand(2, 2, 3))), "solve_vectors": real(lambda x: torch.linalg.solve(squares(x), pairs(x)[:, 1:])),
    "solve_right": real(lambda x: torch.linalg.solve(squares(x)[0], factors(x).mT, left=False)), "inverse": real(lambda x: torch.linalg.inv(squares(x))),
    "matrix_exp": real(lambda x: torch.linalg.matrix_exp(squares(x) / 5)), "matrix_power": real(lambda x: torch.linalg.matrix_power(squares(x) / 3, -2)),
}

WINDOW = torch.hann_window(8)

SPECTRAL = {
    "rfft": real(lambda x: torch.fft.rfft(signal(x, 30))), "rfft_odd": real(lambda x: torch.fft.rfft(signal(x, 30), n=25, norm="ortho")),
    "rfft_padded": real(lambda x: torch.fft.rfft(signal(x, 30), n=33)), "rfft_long": real(lambda x: torch.fft.rfft(signal(x, 1024))),
    "rfft_smooth": real(lambda x: torch.fft.rfft(signal(x, 1155))), "rfft_prime": real(lambda x: torch.fft.rfft(signal(x, 1031))),
    "fft_rows": real(lambda x: torch.fft.fft(x, dim=0)), "fft2": lambda x: torch.fft.fft2(x).abs(),
    "ifft": real(lambda x: torch.fft.ifft(torch.fft.fft(x) * x)), "irfft": lambda x: torch.fft.irfft(torch.fft.rfft(signal(x, 30))[:, :9]),
    "irfft_odd": lambda x: torch.fft.irfft(torch.view_as_complex(torch.stack([x, x.exp()], -1)), n=5),
    "stft": real(lambda x: torch.stft(signal(x, 30), 8, 3, window=WINDOW.to(x), center=False, return_complex=True)),
    "stft_centred": lambda x: torch.stft(signal(x, 30), 8, 2, window=WINDOW.to(x), return_complex=True).abs(),
    "stft_full": real(lambda x: torch.stft(signal(x, 30), 6, 20, center=False, onesided=False, return_complex=True)),
    "stft_small_steps": real(lambda x: torch.stft(signal(x, 60), 40, 2, center=False, window=signal(x, 40)[0], return_complex=True)),
}

TRANSFORMS = {
    "ifft_short": real(lambda x: torch.fft.ifft(x, n=2, norm="ortho")), "fft_forward": real(lambda x: torch.fft.fft(x, n=4, dim=0, norm="forward")),
    "irfft_forward": lambda x: torch.fft.irfft(torch.fft.rfft(x), n=3, norm="forward"), "hfft": lambda x: torch.fft.hfft(pairs(x), norm="ortho"),
    "ihfft": real(lambda x: torch.fft.ihfft(x, n=4)), "fft_n": real(lambda x: torch.fft.fftn(x.expand(2, 2, 3) + x.exp()[:, None])),
    "fft_n_sizes": real(lambda x: torch.fft.fftn(x.expand(2, 2, 3), s=(3, -1))), "ifft2": real(lambda x: torch.fft.ifft2(pairs(x), s=(4, 2), norm="ortho")),
    "ifft_n": real(lambda x: torch.fft.ifftn(pairs(x), dim=(0,))), "rfft2": real(lambda x: torch.fft.rfft2(x, norm="ortho")),
    "rfft_n": real(lambda x: torch.fft.rfftn(x, s=(3, 4))), 
    "irfft_n": lambda x: torch.fft.irfftn(torch.fft.rfftn(x.exp(), dim=(1, 0)), s=(3, 2), dim=(1, 0), norm="forward"),
    "shift": real(lambda x: torch.fft.fftshift(torch.fft.fft2(x))), "shift_back": lambda x: torch.fft.ifftshift(x.exp(), dim=1),
    "frequencies": lambda x: x * torch.fft.fftfreq(3, 0.5) * torch.fft.rfftfreq(4), "fft_long": lambda x: torch.fft.fft(signal(x, 720)).abs(),
    "stft_complex": lambda x: torch.stft(torch.complex(signal(x, 30), signal(x, 30).exp()), 8, 4, window=torch.blackman_window(8), center=False, onesided=False, return_complex=True).abs(),
    "istft": lambda x: torch.istft(torch.stft(signal(x, 30), 8, 2, window=WINDOW.to(x), return_complex=True), 8, 2, window=WINDOW.to(x)),
    "istft_cut": lambda x: torch.istft(torch.stft(signal(x, 30)[0], 8, 2, return_complex=True), 8, 2, length=25, normalized=True),
    "istft_small_steps": lambda x: torch.istft(torch.stft(signal(x, 60), 40, 2, return_complex=True), 40, 2, center=True, length=70),
}

COMPLEX_WRITTEN = {
    "write_real": real(lambda x: written_part(pairs(x), lambda z: z.real)),
    "write_pairs": real(lambda x: written_part(pairs(x), lambda z: torch.view_as_real(z)[..., 1])), "write": real(lambda x: written_part(pairs(x), lambda z: z)),
    "irfft2": lambda x: torch.fft.irfft2(torch.fft.rfft2(x) * pairs(x)[:, :2], s=(2, 3)),
    "hfft2": lambda x: torch.fft.hfft2(x), "hfftn": lambda x: torch.fft.hfftn(pairs(x), s=(3, 4), norm="ortho"), "ihfft2": lambda x: torch.fft.ihfft2(x.exp()).real, "ihfftn": lambda x: torch.fft.ihfftn(x, norm="forward").abs(),
    "stft_normalized": lambda x: torch.stft(signal(x, 30)[0], 8, window=torch.hamming_window(6), win_length=6, normalized=True, return_complex=True).abs(),
}
"""Writes into complex tensors, and transforms that PyTorch makes with such, of which it makes no joint programs."""

DETERMINANTS = {
    "det1": lambda x: torch.linalg.det(matrices(x, 1)), "det2": lambda x: torch.det(matrices(x, 2)), "det3": lambda x: torch.linalg.det(matrices(x, 3)[None]),
    "det4": lambda x: torch.linalg.det(matrices(x, 4)), "det7": lambda x: torch.linalg.det(matrices(x, 7)), "slogdet": lambda x: torch.linalg.slogdet(matrices(x, 5)).logabsdet,
    "sign": lambda x: x[0, 0] * torch.slogdet(matrices(x, 6))[0], "logdet": lambda x: torch.logdet(matrices(x, 4) @ matrices(x, 4).mT),
}

CLASSES = torch.tensor([2, 0])
TARGET = torch.tensor([[0.2, 0.7, 0.1], [0.5, 0.25, 0.25]])

LOSSES = {
    "cross_entropy": lambda x: F.cross_entropy(x, CLASSES), "cross_entropy_smooth": lambda x: F.cross_entropy(x, CLASSES, label_smoothing=0.1, reduction="none"),
    "cross_entropy_weight": lambda x: F.cross_entropy(x, CLASSES, weight=torch.tensor([1.0, 2.0, 3.0]).to(x)), "cross_entropy_ignore": lambda x: F.cross_entropy(x, CLASSES, ignore_index=0),
    "cross_entropy_soft": lambda x: F.cross_entropy(x, TARGET.to(x)), "cross_entropy_single": lambda x: F.cross_entropy(x[0], CLASSES[0]), "cross_entropy_2d": lambda x: F.cross_entropy(x[..., None], CLASSES[:, None], reduction="sum"),
    "nll": lambda x: F.nll_loss(x.log_softmax(1), CLASSES), "mse": lambda x: F.mse_loss(x, TARGET.to(x)), "mse_none": lambda x: F.mse_loss(x, TARGET.to(x), reduction="none"),
    "l1": lambda x: F.l1_loss(x, TARGET.to(x), reduction="sum"), "smooth_l1": lambda x: F.smooth_l1_loss(x, TARGET.to(x), beta=0.5), "huber": lambda x: F.huber_loss(x, TARGET.to(x), delta=0.5),
    "bce": lambda x: F.binary_cross_entropy(x.sigmoid(), TARGET.to(x), weight=TARGET.to(x)[0]), "bce_logits": lambda x: F.binary_cross_entropy_with_logits(x, TARGET.to(x), pos_weight=TARGET.to(x)[1]),
    "kl_div": lambda x: F.kl_div(x.log_softmax(1), TARGET.to(x), reduction="batchmean"), "kl_div_log": lambda x: F.kl_div(x.log_softmax(1), TARGET.to(x).log(), log_target=True, reduction="sum"),
    "soft_margin": lambda x: F.soft_margin_loss(x, (CLASSES[:, None] - 1.0).sign()), "margin_ranking": lambda x: F.margin_ranking_loss(x[0], x[1], x[0].sign().detach(), margin=0.1),
    "cosine_similarity": lambda x: F.cosine_similarity(x, TARGET.to(x)), "cosine_embedding": lambda x: F.cosine_embedding_loss(x, TARGET.to(x), torch.tensor([1, -1]), margin=0.1),
    "hinge_embedding": lambda x: F.hinge_embedding_loss(x, (TARGET.to(x) - 0.22).sign()), "triplet": lambda x: F.triplet_margin_loss(x, x.exp(), TARGET.to(x), swap=True),
    "triplets_of_types": lambda x: F.triplet_margin_loss(x, x[:, :1].double(), TARGET.to(x)[:1].half(), p=3, reduction="sum"),
    "poisson": lambda x: F.poisson_nll_loss(x, TARGET.to(x)),
}

ATEN = torch.ops.aten
VOLUME = torch.tensor([[[[[0.3, -1.2, 0.8], [1.1, 0.2, -0.4]], [[-0.6, 0.9, 0.1], [0.7, -0.2, 1.3]]]]])

BACKWARD = {
    "silu": lambda x: x * ATEN.silu_backward(*VOLUME[0, 0].to(x)), "mish": lambda x: x * ATEN.mish_backward(*VOLUME[0, 0].to(x)),
    "hardshrink": lambda x: ATEN.hardshrink_backward(x.exp(), x, 0.5),
    "softshrink": lambda x: ATEN.softshrink_backward(x.exp(), x, 0.5), "dropout": lambda x: ATEN.native_dropout_backward(x.exp(), MASK, 1.25),
    "masked_scatter": lambda x: ATEN.masked_scatter_backward(x.exp(), MASK, (5,)), "reflect2d": lambda x: ATEN.reflection_pad2d_backward(F.pad(x.exp(), (1, 2, 1, 1))[None], x[None], [1, 2, 1, 1]),
    "replicate2d": lambda x: ATEN.replication_pad2d_backward(F.pad(x.exp(), (1, 2, 1, 0))[None], x[None], [1, 2, 1, 0]),
    "replicate3d": lambda x: ATEN.replication_pad3d_backward(F.pad(x.exp(), (1, 2, 1, 0)).repeat(3, 1, 1)[None], x[None, None], [1, 2, 1, 0, 1, 1]),
    "adaptive3d": lambda x: ATEN._adaptive_avg_pool3d_backward(x.exp()[None, None, None], VOLUME.to(x).repeat(1, 1, 1, 2, 1)),
}
"""Operators of backward passes that PyTorch takes apart where it makes one, called in the forward pass."""

def normed(x, norm, backward):
    """The gradient of a norm that keeps mean and rstd, by the operator that PyTorch's autograd calls."""
    y, mean, rstd = norm(x)
    return backward(y.sin() + x, mean, rstd)[0]


ROWS, LEVELS = torch.tensor([0.5, -1.5, 1.0]), torch.tensor([[0.3], [-0.8]])
CURVED = {
    "layer_norm": lambda x: normed(x, lambda x: ATEN.native_layer_norm(x, [3], ROWS.to(x), None, 1e-5), lambda g, m, r: ATEN.native_layer_norm_backward(g, x, [3], m, r, ROWS.to(x), None, [True, True, False])),
    "layer_norm_weight": lambda x: ATEN.native_layer_norm_backward(x.exp(), x.sin(), [3], *ATEN.native_layer_norm(x.sin(), [3], x[0], None, 1e-5)[1:], x[0], None, [False, True, False])[1],
    "batch_norm": lambda x: (lambda z: normed(z, lambda z: ATEN._native_batch_norm_legit.no_stats(z, None, None, True, 0.1, 1e-5), lambda g, m, r: ATEN.native_batch_norm_backward(g, z, None, None, None, m, r, True, 1e-5, [True, False, False])))(torch.cat([x, x.exp()])[..., None]),
    "tanh": lambda x: ATEN.tanh_backward(x, LEVELS.to(x) * x[:, :1]), "sigmoid": lambda x: ATEN.sigmoid_backward(x[:1], LEVELS.to(x) * x[:, :1]), "gelu": lambda x: ATEN.gelu_backward(x.exp(), x),
    "softplus": lambda x: ATEN.softplus_backward(x, x[:, :1], 1, 20), "elu": lambda x: ATEN.elu_backward(x[None], 1, 1, 1, False, x[:1]),
    "bilinear": lambda x: ATEN.upsample_bilinear2d_backward(x.exp()[None, None], [2, 3], [1, 1, 3, 2], True), "bicubic": lambda x: ATEN.upsample_bicubic2d_backward(x.exp()[None, None], [2, 3], [1, 1, 3, 2], False),
    "linear": lambda x: ATEN.upsample_linear1d_backward(x.exp()[None], [3], [1, 2, 2], False), "trilinear": lambda x: ATEN.upsample_trilinear3d_backward(x.exp()[None, None, None], [1, 2, 3], [1, 1, 2, 3, 2], False),
    "nearest": lambda x: ATEN.upsample_nearest2d_backward(x.exp()[None, None], [2, 3], [1, 1, 3, 2]), "nearest_exact": lambda x: ATEN._upsample_nearest_exact1d_backward(x.exp()[None], [3], [1, 2, 2]),
    "nearest3d": lambda x: ATEN.upsample_nearest3d_backward(x.exp()[None, None, None], [1, 2, 3], [1, 1, 2, 3, 2]), "prims": lambda x: x * torch.ops.prims.add(torch.ops.prims.mul(x.detach(), x.detach().exp()), torch.ops.prims.neg(torch.ops.prims.sub(x.detach(), x.detach().sin()))),
}
"""Derivatives in the forward pass, as make_fx and torch.func write them, whose own derivatives are taken; operands that broadcast."""

STRIDED = {
    "as_strided": lambda x: x.exp().t().as_strided((2, 2), (1, 2), 1), "whole": lambda x: x.exp().t().as_strided((2, 3), (3, 1)),
    # Beside the argument's own elements.
    "outside": lambda x: x.exp()[1].as_strided((2, 2), (2, 1), 1), "between": lambda x: x.exp()[:, ::2].as_strided((5,), (1,)), "around": lambda x: x.exp()[:1].as_strided((2, 3), (3, 1), 0),
    "turned": lambda x: x.sin()[:1].as_strided((2, 3), (3, 1), 0).t_(),
}

DISTANCES = {
    "cdist": lambda x: torch.cdist(x, x.exp()), "cdist_zero": lambda x: torch.cdist(x, x), "cdist_1": lambda x: torch.cdist(x, x.exp(), p=1),
    "cdist_3": lambda x: torch.cdist(x, x.exp() + 1, p=3), "cdist_max": lambda x: torch.cdist(x, x.exp(), p=float("inf")),
    "cdist_batch": lambda x: torch.cdist(x[None, None], torch.stack([x.exp(), x.sin(), x.cos()])[:, None]),
    "cummax": lambda x: torch.cummax(x, 1)[0] * (torch.cummax(x.sin(), 0)[1] + 1), "cummin": lambda x: torch.cummin(x, 0)[0] * (torch.cummin(x.round(), 1)[1] + 1),
}

RESHAPED = {
    "unsqueeze_": written(lambda x: x.unsqueeze_(1) * x.exp()), "squeeze_": lambda x: x[:, None, :, None].clone().squeeze_(), "squeeze_dim_": lambda x: x[:, None].clone().squeeze_(1),
    "squeeze_dims_": lambda x: x[:, None, :, None].clone().squeeze_((1, 3)), "transpose_": written(lambda x: x.transpose_(0, 1)), "t_": written(lambda x: x.t_() + x.exp()),
    "swapaxes_": written(lambda x: x.swapaxes_(0, 1)), "swapdims_": lambda x: x[None].clone().swapdims_(0, 2),
    "views_stay": written(lambda x: (x[0], x.t_(), x.mul_(2))[0] * x[:, 1]), "grids": written(lambda x: torch.stack((torch.meshgrid(x[0], x[1], indexing="xy"), x.mul_(2))[0])),
    "grid_alone": written(lambda x: (torch.meshgrid(x[0], indexing="ij")[0].mul_(3), x)[1]), "broadcast": written(lambda x: (torch.broadcast_tensors(x, x[0])[0].mul_(3), x)[1]),
    "broadcast_stays": written(lambda x: torch.stack((torch.broadcast_tensors(x[0], x), x[0, 1:].mul_(3))[0])), "at_least": written(lambda x: (torch.atleast_2d([x[0], x])[0].mul_(3), x)[1]),
    "write_back": lambda x: (lambda y: (y.unsqueeze(0).squeeze_(0).mul_(3), y)[1])(x.clone()),
}
"""Operators that give their argument another shape."""

SPECIAL = torch.tensor([[0.0, -0.0, float("nan")], [float("inf"), -float("inf"), -1.5]])


PLACES = torch.tensor([[1.0, 1.0, 2.0**-20], [-1.0, 8.0, -(2.0**-20)]])
NEIGHBOURS = torch.tensor([[1 + 2.0**-23, 1 - 2.0**-24, 2.0**-20 - 2.0**-44], [2.0**-24 - 1, 8 - 2.0**-21, 2.0**-44 - 2.0**-20]])


def special(x):
    """A parameter with special values beside its own, which alone take gradients."""
    return torch.where(MASK, x, SPECIAL.to(x))


FLOATS = {
    "fmax": lambda x: torch.fmax(x, special(x).roll(1, 1)).nan_to_num(posinf=3), "fmin": lambda x: torch.fmin(special(x).nan_to_num(neginf=1, posinf=1), x * (MASK.float() * 2 - 1)),
    "fmax_ties": lambda x: torch.fmax(x, x * 1), "signbit": lambda x: x * special(x).signbit(), "copysign": lambda x: torch.copysign(x, special(x)), "copysign_number": lambda x: x.copysign(-0.0),
    "heaviside": lambda x: x * torch.heaviside(special(x).detach(), torch.tensor(0.5).to(x)), "is": lambda x: x * special(x).isposinf() + x * special(x).isneginf() * 2 + x * special(x).isreal(),
    "isclose": lambda x: x * torch.isclose(special(x), special(x).roll(1, 1), 0.5, 0.1) + x * torch.isclose(special(x), SPECIAL.to(x), equal_nan=True),
    "isin": lambda x: x * torch.isin(INDEX, torch.tensor([1, 5])) + x * torch.isin(INDEX, 2, invert=True), "ldexp": lambda x: torch.ldexp(x, INDEX - 1) + torch.ldexp(x, x),
    "frexp": lambda x: torch.frexp(x * 100)[0] * torch.frexp(special(x).nan_to_num(posinf=1, neginf=1) * 1e-3)[1], "logaddexp2": lambda x: torch.logaddexp2(x, -x) + torch.logaddexp(x, x * 1),
    "float_power": positive(lambda x: torch.float_power(x, 1.5).float() + torch.float_power(2, x).float()), "round": lambda x: x * x.round(decimals=2) + x * (x * 100).round(decimals=-2),
    "degrees": lambda x: torch.rad2deg(x) + torch.deg2rad(x), "positive": lambda x: torch.positive(x), "aminmax": lambda x: torch.aminmax(x)[0] * torch.aminmax(x, dim=1, keepdim=True)[1],
    "nan_to_num_int": lambda x: x * torch.nan_to_num(INDEX), "nansum": lambda x: special(x)[:, 1:].nansum(0), "nanmean": lambda x: special(x)[0].nanmean(),
    "softplus_threshold": lambda x: F.softplus(x * 3, 2.0, 1.5),
    "nextafter": lambda x: torch.nextafter(x, x.roll(1, 1)) + torch.nextafter(x, x * 1) + torch.where(MASK, x, torch.nextafter(special(x), x).nan_to_num(posinf=1, neginf=2)),
    "nextafter_bits": lambda x: x * (torch.nextafter((x.detach() * 0).float() + PLACES, torch.tensor([4.0, -1.0, 0.0])) == NEIGHBOURS),
}

JOINED = {
    "addr": lambda x: torch.addr(x, x[:, 0], x[0], beta=0.5, alpha=2), "cross": lambda x: torch.cross(x, x.exp()), "linalg_cross": lambda x: torch.linalg.cross(x, x.sin()),
    "diag": lambda x: x[0].diag(1) + x.repeat(2, 2)[:, :4].diag(-1)[0], "diagflat": lambda x: torch.diagflat(x, -1), "trace": torch.trace, "linalg_diagonal": lambda x: torch.linalg.diagonal(x[None], offset=1),
    "block_diag": lambda x: torch.block_diag(x, x[0], x[0, 0], x.t()), "cartesian_prod": lambda x: torch.cartesian_prod(x[0], x[:, 1], x[1]),
    "sum_to_size": lambda x: x[None].sum_to_size(2, 1), "fliplr": torch.fliplr, "flipud": torch.flipud,
    "rot90": lambda x: torch.rot90(x), "rot270": lambda x: torch.rot90(x[None], 3, (2, 1)), "rot180": lambda x: torch.rot90(x, -2), "ravel": lambda x: x.t().ravel(), "atleast": lambda x: torch.atleast_3d(x) * torch.atleast_2d(x[0])[..., None] * torch.atleast_1d(x[0, 0]),
    "column_stack": lambda x: torch.column_stack([x, x[:, 0]]), "dstack": lambda x: torch.dstack([x[0], x[1]]), "hstack_numbers": lambda x: torch.hstack([x[0, 0], x[1]]), "row_stack": lambda x: torch.row_stack([x, x[0]]),
    "hsplit": lambda x: torch.hsplit(x, 3)[1] * torch.hsplit(x[0], [1])[1], "vsplit": lambda x: torch.vsplit(x, 2)[1], "dsplit": lambda x: torch.dsplit(x[None], (1,))[1],
    "msort": lambda x: x.t().msort(), "logspace": lambda x: x * torch.logspace(-1, 1, 3),
    "copies": lambda x: torch.t_copy(x) * torch.narrow_copy(torch.alias_copy(x), 1, 0, 2).t()[:1], "diff_none": lambda x: torch.diff(x, 0, prepend=x),
    "softmax_number": lambda x: x * x[0, 0].softmax(0) + x[0, 1].log_softmax(-1), "unfold_number": lambda x: x[0, 0].unfold(0, 1, 1),
    "attention_of_no_keys": lambda x: x[:, :1] + F.scaled_dot_product_attention(x, x.new_zeros(4, 0, 3), x[:0]),
    "attention_of_no_values": lambda x: x.sum() + F.scaled_dot_product_attention(x[:0], x.new_zeros(3, 2, 3), x[:, :0]).sum(),
    "attention_ranks": lambda x: F.scaled_dot_product_attention(x[None], x[None, None].exp(), x[None, None].sin()),
}

PLACED = {
    "linspace_tensors": lambda x: x * torch.linspace(x[0, 0].detach(), x[1, 0].detach(), 3),
    "topk_number": lambda x: x[0, 0].topk(1)[0],
    "combinations": lambda x: torch.combinations(x.view(6), 3),
    "combinations_again": lambda x: torch.combinations(x[0], 3, with_replacement=True),
    "integer_powers": lambda x: x * sum(y % 101 for y in (whole(x) ** (INDEX * 9 + 8), whole(x) ** 11, whole(x) ** (INDEX * 70), (whole(x) | 1) ** (INDEX - 2), whole(x).to(torch.uint8) ** (INDEX + 2))) * 0.01,
    "wrapped_products": lambda x: x * ((whole(x) * 20).to(torch.int8) @ (whole(x) * 20).to(torch.int8).t()).sum() * 0.01 + (whole(x).to(torch.uint8) @ whole(x).to(torch.uint8).t())[:, :1] * 0.01 * x,
    "booleans": lambda x: x * ((x.detach() > 0).scatter_add(1, INDEX % 2, x.detach() > -0.5) + F.pad(x.detach() > 0, (0, 1), value=2)[:, 1:] * 2.0 + (x.detach() > 0).sum_to_size(2, 1)
                               + (x.detach() > 0).index_put((INDEX[0] % 2,), x.detach()[:1].abs().expand(3, 3) > 0.3, accumulate=True) * 0.5),
    "split_tensor": lambda x: x.tensor_split(torch.tensor([1, 2]), 1)[1],
    "repeats": lambda x: x.repeat_interleave(torch.tensor([2, 0, 1]), 1) * x.repeat_interleave(torch.tensor([1, 0, 2, 0, 0, 3]))[1:4],
    "repeats_alone": lambda x: x[torch.repeat_interleave(torch.tensor([1, 2]))],
    "index_numbers": lambda x: x[0, 0].index_add(0, torch.tensor([0]), x[0, 1]) + x[1, 0].index_copy(0, torch.tensor([0]), x[1, 1]) * x[1, 2].index_fill(0, torch.tensor([0]), 0.5) * x[0, 2].index_reduce(0, torch.tensor([0]), x[1, 1], "prod"),
    "index_fill_twice": lambda x: x.index_fill(1, torch.tensor([1, 1]), x[0, 0]),
    "take": lambda x: x.take(INDEX * 2 - 1),
    "put": lambda x: x.put(INDEX[:1] * 2, x[0].exp()),
    "put_add": lambda x: x.put(INDEX * 0 + 4, x.exp(), accumulate=True),
    "masked_index": lambda x: ATEN._unsafe_masked_index(x, MASK, [INDEX[:, 1:2] - 1, INDEX * 2 - 1], 0.5),
    "masked_index_add": lambda x: ATEN._unsafe_masked_index_put_accumulate(x, MASK, [INDEX[:, 1:2] - 1, INDEX * 2 - 2], x.exp()),
}

RANKED = {
    "quantile": lambda x: x.quantile(0.3), "quantiles": lambda x: x.quantile(torch.tensor([0.1, 0.7]).to(x), 1), "quantile_keep": lambda x: x.quantile(0.25, 0, keepdim=True, interpolation="midpoint"),
    "quantile_modes": lambda x: x.quantile(0.4, 1, interpolation="lower") * x.quantile(0.4, 1, interpolation="higher") * x.quantile(0.4, 1, interpolation="nearest"),
    "quantile_nan": lambda x: torch.where(MASK, x, torch.nan)[:, :2].quantile(0.5, 0).nan_to_num(2), "nanquantile": lambda x: torch.where(MASK, x, torch.nan).nanquantile(0.6, 1),
    "nanmedian": lambda x: torch.where(MASK, x, torch.nan).nanmedian(), "nanmedian_dim": lambda x: torch.where(MASK, x, torch.nan).nanmedian(1).values, "median_ties": lambda x: torch.median((x * 0.01).repeat(2, 1).index_select(0, torch.tensor([0, 0, 2]))),
    "mode": lambda x: x.repeat(1, 2)[:, [0, 1, 3, 4, 2]].mode().values * (x.repeat(1, 2)[:, [0, 1, 3, 4, 2]].mode(keepdim=True).indices + 1),
    "bucketize": lambda x: x * torch.bucketize(x.detach(), torch.tensor([-1, -0.2, 0.3, 0.9]).to(x)) + x * torch.bucketize(INDEX, torch.tensor([0, 1, 1, 2]), right=True),
    "searchsorted": lambda x: x * torch.searchsorted(x.detach().sort(1).values, x.detach() + 0.1, side="right") + x * torch.searchsorted(x.detach(), x.detach() * 0.9, sorter=x.detach().argsort(1)),
    "histc": lambda x: x[0] * torch.histc(x.detach(), 3, -1, 1) + x[1] * torch.histc(x.detach(), 3),
}

MANY = torch.arange(1100.0) % 2  # more than are folded unasked

TRUTHS = {
    "maximum": lambda x: x * torch.maximum(x > 0, x.flip(1) > 0) - x.sin() * torch.max(x > 0.2, x < -0.2), "minimum": lambda x: x * torch.minimum(x > 0, x.flip(0) < 1) - x.sin() * torch.min(x > -0.5, x < 0.5),
    "fmax": lambda x: x * torch.fmax(x > 0, x.flip(1) > 0) - x.sin() * torch.fmin(x > -0.5, x < 0.5), "cummax": lambda x: x * (x > 0).cummax(1).values * ((x < 0).cummin(1).indices + 1),
    "sort": lambda x: x * (x > 0).sort(dim=1, descending=True).values - x.sin() * (x > 0).sort(dim=1, stable=True).indices, "sign": lambda x: x * (x > 0).sign(),
    "outer": lambda x: x * torch.outer(x[:, 0] > 0, x[0] > 0), "extremes": lambda x: x * (x > 0).amax(1, keepdim=True) - x.sin() * (x > 0).min(0).values,
    "fill_diagonal": lambda x: (x * 1).fill_diagonal_(0.7), "fill_diagonal_cube": lambda x: (x @ x.t())[None].repeat(2, 1, 1).fill_diagonal_(2),
    "fill_diagonal_wrapped": lambda x: x.repeat(4, 1).fill_diagonal_(0.7, wrap=True), "fill_diagonal_tall": lambda x: x.repeat(4, 1).fill_diagonal_(0.7),
    "bincount": lambda x: x * torch.bincount(INDEX[0]) - x.sin() * torch.bincount(INDEX[1, :2], minlength=3), "bincount_weighted": lambda x: x * torch.bincount(INDEX[0], weights=x.detach()[1]),
    "bincount_of_data": lambda x: x * torch.bincount(x.argmax(1), minlength=3) + torch.bincount(x.argmax(0).int(), weights=x.detach()[0], minlength=3),
    "bincount_of_many": lambda x: x * torch.bincount((MANY + 1).int(), minlength=2) / 1100,
    "type_asked": lambda x: x.to(torch.promote_types(torch.float32 if x.dtype == torch.float32 else torch.float64, torch.float16)) if torch.can_cast(torch.int32, torch.float32) and x.is_same_size(x.exp()) else x * 2,
    "eye_complex": lambda x: (torch.complex(x, x.exp()) @ torch.eye(3, dtype=torch.complex64).to(torch.complex(x, x).dtype)).real * torch.view_as_real(torch.eye(2, 3, dtype=torch.complex64)).sum(-1).to(x),
}
"""Booleans in order, numbers counted, diagonals filled; questions about types, which have an answer when a program is exported."""

COVARIANCES = {
    "cov": lambda x: torch.cov(x) + torch.cov(x[0], correction=0),
    "cov_weighted": lambda x: torch.cov(x, fweights=torch.tensor([2, 0, 1]), aweights=x.exp().mean(0)) + torch.cov(x[0], correction=0, aweights=x[1].exp()),
    "cov_repeated": lambda x: torch.cov(x, fweights=torch.tensor([2, 3, 1])),
    "cov_of_types": lambda x: torch.cov(x, aweights=x.double().exp().mean(0)).to(x) + torch.cov(x, aweights=torch.tensor([0.5, 2, 1.5]).half()),
    "corrcoef": lambda x: torch.corrcoef(x.t() @ torch.tensor([[1.0, 2, 0, -1], [0.5, 0, 1, 3]]).to(x)),
}
"""Operators that PyTorch traces, but does not export."""

MARGINS = {
    "multi_margin": lambda x: F.multi_margin_loss(x, CLASSES), "multi_margin_squared": lambda x: F.multi_margin_loss(x, CLASSES, p=2, margin=0.5, weight=torch.tensor([1.0, 2.0, 3.0]).to(x), reduction="none"),
    "multi_margin_vector": lambda x: F.multi_margin_loss(x[0], CLASSES[0], reduction="sum"), "multilabel_margin": lambda x: F.multilabel_margin_loss(x, torch.tensor([[2, 0, -1], [1, -1, 0]])),
    "multilabel_margin_none": lambda x: F.multilabel_margin_loss(x, torch.tensor([[2, 0, 1], [-1, -1, 0]]), reduction="none"), "pairwise_distance": lambda x: F.pairwise_distance(x, x.exp(), keepdim=True),
    "pairwise_distance_3": lambda x: F.pairwise_distance(x, x.exp(), p=3) + F.pairwise_distance(x, x.sin(), p=float("inf")), "dist": lambda x: torch.dist(x, x.exp(), 1) + torch.dist(x[0], x[1]),
    "pdist": lambda x: F.pdist(x.t()), "renorm": lambda x: torch.renorm(x, 2, 0, 0.7), "triplet_distance": lambda x: F.triplet_margin_with_distance_loss(x, x.exp(), TARGET.to(x)),
    "hinge_others": lambda x: F.hinge_embedding_loss(x, TARGET.to(x)), "margin_at_zero": lambda x: F.margin_ranking_loss(x[0], x[0] * 1, TARGET[0].to(x)), "poisson_full": lambda x: F.poisson_nll_loss(x, TARGET.to(x) * 9, full=True),
    "adaptive_max_pool1d": lambda x: F.adaptive_max_pool1d(image(x)[0, 0], 4), "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(image(x), (2, 4)), "adaptive_max_pool3d": lambda x: F.adaptive_max_pool3d(image(x), (1, 3, 5)),
    "adaptive_max_indices": lambda x: F.adaptive_max_pool2d(image(x), (3, 4), return_indices=True)[1] * image(x)[:, :, :3, :4], "rrelu": lambda x: F.rrelu(x), "conv_transpose_dilated": lambda x: F.conv_transpose1d(image(x)[:, :, 0], x[:, None], stride=2, output_padding=2, dilation=3),
}



def segments(reduce, **options):
    """Of five elements of x segments of two, none and three, and in each row others."""
    def f(x):
        rows = torch.cat([x, x.flip(0) + 0.1], 1)[:, :5]
        whole = torch.segment_reduce(rows.t(), reduce, lengths=torch.tensor([2, 0, 3]), **options)
        others = torch.segment_reduce(rows, reduce, offsets=torch.tensor([[0, 1, 5], [0, 3, 5]]), axis=1, **options)
        return torch.cat([whole.flatten(), others.flatten()])
    return f


SEGMENTS = {
    "sum": segments("sum"), "sum_from": segments("sum", initial=1.5), "prod": segments("prod"), "prod_from": segments("prod", initial=2),
    "mean_from": segments("mean", initial=0.5), "max_from": segments("max", initial=0.2), "min_from": segments("min", initial=-0.3),
    "max": lambda x: torch.segment_reduce(x.view(3, 2).round(), "max", lengths=torch.tensor([2, 1])) * x.view(3, 2)[:2],
    "mean": lambda x: torch.segment_reduce(x.view(6), "mean", offsets=torch.tensor([0, 2, 6])),
}


def grid(f):
    """Of numbers of single precision, which is all that PyTorch takes."""
    return lambda x: f(x.float()).to(x)


def fake_quantized_if(enabled, x):
    return torch._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
        x * 3, torch.tensor([0.5]), torch.tensor([1], dtype=torch.int32), torch.tensor([enabled]), -4, 3)[0]


GRIDS = {
    "tensor": grid(lambda x: torch._fake_quantize_learnable_per_tensor_affine(x * 3, x[0, :1].abs() + 0.25, x[1, :1] * 2, -4, 3, 0.5)),
    "tensor_half": grid(lambda x: torch._fake_quantize_learnable_per_tensor_affine(x * 2, x[0, :1].abs() + 0.2, x[1, :1] * 0 - 1.5, -3, 3)),
    "channels": grid(lambda x: torch._fake_quantize_learnable_per_channel_affine(x * 3, x[0].abs() + 0.25, x[1] * 2, 1, -4, 3, 0.7)),
    "rows": grid(lambda x: torch._fake_quantize_learnable_per_channel_affine(x * 3, x[:, 0].abs() + 0.25, x[:, 1] * 0, 0, -2, 1)),
    "observed": grid(lambda x: torch.fake_quantize_per_tensor_affine(x * 3, torch.tensor([0.5]), torch.tensor([1], dtype=torch.int32), -4, 3)),
    "enabled": grid(lambda x: fake_quantized_if(1, x)), "disabled": grid(lambda x: fake_quantized_if(0, x)),
}
"""Numbers rounded to a grid that is trained, or that tensors say."""


def covered(at, value, f=torch.clone):
    """Values that replace what a mask of the parameter's values covers, the same along the mask."""
    def write(x):
        y = f(x)
        y[at(y)] = value(y)
        return y * y.exp()
    return write


COVERED = {
    "rows": covered(lambda y: y[:, 0] > 0, lambda y: y[1] * 2), "columns": covered(lambda y: (slice(None), y[0] > 0), lambda y: 0.5),
    "columns_each": covered(lambda y: (slice(None), y[1] < 0), lambda y: y[:, :1] * 3), "all": covered(lambda y: y > 0, lambda y: y.sum()),
    "inner": covered(lambda y: (slice(None), y[0] > 0), lambda y: y[:, 0, :1] * 2, lambda x: torch.stack([x, x.sin(), x.exp()], 2).transpose(0, 2)),
    "added": lambda x: torch.ops.aten.index_put(x, [None, x[0] > 0], x[:, 1:2].exp(), True),
}

def low(x, bits=16):
    """The low bits of integers, as fractions."""
    return (x & (2**bits - 1)).float() / 2**bits


# Beyond what floats in double precision hold, and outside of narrow types.
INTEGERS = {
    "product": lambda x: x * low((whole(x) * 3**36 + 7) @ (whole(x).T * 5**24 - 3)).sum(),
    "product32": lambda x: x * low(((whole(x) * 3**17 + 7).int() @ (whole(x).T * 5**12 - 3).int()).long()).sum(),
    "einsum": lambda x: x * low(torch.einsum("ij,kj->ik", whole(x) * 3**36 + 7, whole(x) * 5**24 - 3)).sum(),
    "einsum_types": lambda x: torch.einsum("i,jk,->jik", torch.arange(1, 4), x, torch.tensor(0.3, dtype=torch.float64)).float() * torch.einsum("jk,k->jk", x > 0, whole(x)[0])[:, None],
    "power": lambda x: x * low((whole(x) * 2 + 3) ** (whole(x).abs() * 10**12 + 1025)),
    "power_narrow": lambda x: x * low((whole(x).int() * 2 + 3) ** (whole(x).abs().int() * 1000 + 1025), 8),
    "power_even": lambda x: x * low((whole(x) * 2) ** (whole(x).abs() * 3), 8),
    "trapezoid": lambda x: x * torch.trapezoid(whole(x).byte() + 200, dim=1)[:, None],
    "trapezoid_points": lambda x: x * torch.trapezoid((whole(x) * 50).byte(), INDEX[0].byte() * 100)[:, None],
    "cumulative_trapezoid": lambda x: x[:, :2] * torch.cumulative_trapezoid((whole(x) * 60).byte()) * torch.cumulative_trapezoid(whole(x).int(), INDEX * 3),
    "gcd": lambda x: x * low(torch.gcd(whole(x) * 360360 + 5040, INDEX * 7920 - 2520)), "lcm": lambda x: x * low(torch.lcm((whole(x) * 50).int(), INDEX.int() * 6 - 4).long()),
    "gcd_narrow": lambda x: x * torch.gcd((whole(x) * 20).to(torch.int8), torch.tensor([[0, -128, 12], [30, 7, 0]], dtype=torch.int8)) * torch.lcm((whole(x) + 9).byte() * 8, INDEX.byte() * 30),
    "numbers": lambda x: x * low(whole(x) * (2**53 + 1) + torch.where(x.detach() > 0, 2**60 + 1, 5 - 2**61)), "masks": lambda x: x * ((whole(x) + 5) & (2**61 - 2)),
    "ranking_sum": lambda x: x * F.margin_ranking_loss(whole(x).byte(), (whole(x) + 9).byte(), INDEX.byte(), reduction="sum"),
    "beyond": lambda x: x * ((whole(x) + 9).byte() / 256 + torch.atan2((whole(x) * 9).to(torch.int8), torch.tensor(300)) + torch.xlogy((whole(x) + 9).byte(), torch.tensor(1000)) / 99 + (whole(x) * 9).short() / 2**20),
    "beyond_ends": lambda x: x * ((whole(x) + 9).byte().clamp(max=300) + (whole(x) * 9).to(torch.int8).clamp(-500, 20) + (whole(x) + 9).byte().clamp(min=-5)),
}

def ends(x):
    """Of three groups of six, as long as the data say."""
    return torch.cat([(x > 0).sum(1).cumsum(0), torch.tensor([6])]).int()


def stacked(x):
    """Three matrices of eight columns, as grouped products ask for rows of multiples of four elements."""
    return torch.stack([x, x.sin(), x.exp()]).repeat(1, 2, 3)[..., :8].contiguous()


def moe():
    import transformers.integrations.moe  # noqa: F401 (registers its operators)

    return torch.ops.transformers


def grouped(a, b, **groups):
    """Which PyTorch has not in double precision."""
    return F.grouped_mm(a.float(), b.float(), **groups).to(a)


GROUPED = {
    "rows": lambda x: grouped(x.repeat(3, 2)[:, :4].contiguous(), stacked(x), offs=ends(x)),
    "columns": lambda x: grouped(stacked(x).mT, stacked(x)[1], offs=ends(x) + torch.tensor([0, 0, 2]).int()),
    "summed": lambda x: grouped(stacked(x)[0].mT.contiguous(), stacked(x)[2], offs=(ends(x) - 2).clamp(min=0)),
    "batches": lambda x: grouped(stacked(x).mT, stacked(x)),
    "of_transformers": lambda x: moe().grouped_mm_fallback(x.repeat(3, 2)[:, :4], stacked(x), ends(x)),
}

POOLED = {
    "ps_roi_align": lambda x: ops.ps_roi_align(image(x).repeat(1, 6, 1, 1), REGIONS.to(x), (2, 3), 0.5, 2),
    "ps_roi_align_adaptive": lambda x: ops.ps_roi_align(image(x).repeat(1, 6, 1, 1), REGIONS.to(x), (3, 2), 0.5),
    "ps_roi_pool": lambda x: ops.ps_roi_pool(image(x).repeat(1, 6, 1, 1), REGIONS.to(x), (3, 2), 0.5),
}
"""Regions whose bins have channels of their own."""

RENAMED = {
    "functions": lambda x: x * torch.fix(x * 3) + torch.arcsin(x / 4) + torch.arccos(x / 4) + torch.arctan(x) + torch.arcsinh(x) + torch.arccosh(x * x + 1.5) + torch.arctanh(x / 4),
    "comparisons": lambda x: x * torch.greater(x, 0) + x * torch.less(x, x.roll(1, 1)) + x * torch.greater_equal(x, 1) + x * torch.less_equal(x, 0.5) + x * torch.not_equal(x, 0),
    "reductions": lambda x: torch.special.logsumexp(x, 1, keepdim=True) + torch.special.log_softmax(x, 0), "matmul": lambda x: torch.linalg.matmul(x, x.t()),
}

FAMILIES = {"elementwise": ELEMENTWISE, "renamed": RENAMED, "pooled": POOLED, "activations": ACTIVATIONS, "reductions": REDUCTIONS, "views": VIEWS, "strided": STRIDED, "indices": INDICES,
            "windows": WINDOWS, "sampled": SAMPLED, "spectral": SPECTRAL, "transforms": TRANSFORMS, "complex": COMPLEX, "complex_written": COMPLEX_WRITTEN, "complex_solved": COMPLEX_SOLVED, "determinants": DETERMINANTS, "factored": FACTORED, "distances": DISTANCES, "losses": LOSSES, "backward": BACKWARD,
            "corners": CORNERS, "reshaped": RESHAPED, "floats": FLOATS, "joined": JOINED, "placed": PLACED, "ranked": RANKED, "covariances": COVARIANCES, "truths": TRUTHS, "curved": CURVED, "margins": MARGINS,
            "special": SPECIAL_FUNCTIONS, "likelihoods": LIKELIHOODS, "numerics": NUMERICS,
            "segments": SEGMENTS, "grids": GRIDS, "covered": COVERED, "extremes": EXTREMES, "integers": INTEGERS, "grouped": GROUPED}


class Operators(nn.Module):
    """The operators of a family, each on `values.of_<name>`."""

    def __init__(self, family):
        super().__init__()
        self.family = FAMILIES[family]
        generator = torch.Generator().manual_seed(3)
        self.values = nn.ParameterDict({f"of_{name}": torch.randn(2, 3, generator=generator) for name in self.family})

    def forward(self, scale):
        return {name: f(self.values[f"of_{name}"] * scale) for name, f in self.family.items()}
