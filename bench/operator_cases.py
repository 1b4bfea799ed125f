# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of operators.py: name -> a function that makes a module and its inputs.

    case(name, function, shapes of parameters..., mods=modules, args=inputs)

The function gets the parameters, the modules and the inputs; the loss is the mean square of what
it returns, or that itself where it is a scalar.
"""

import torch
import torch.nn.functional as F
from torch import nn

CASES = {}
generator = torch.Generator().manual_seed(0)


class Squares(nn.Module):
    def __init__(self, function, parameters, modules):
        super().__init__()
        self.function = function
        self.own = nn.ParameterList(parameters)
        self.parts = nn.ModuleList(modules)

    def forward(self, *inputs):
        result = self.function(*self.own, *self.parts, *inputs)
        return result if result.dim() == 0 else result.square().mean()


def case(name, function, *parameters, mods=(), args=()):
    def make():
        module = Squares(function, [p() for p in parameters], [m() for m in mods])
        return module, tuple(a() for a in args)

    CASES[name] = make


def r(*shape):
    """Normal numbers."""
    return lambda: torch.randn(*shape, generator=generator)


def i(bound, *shape):
    """Integers in [0, bound)."""
    return lambda: torch.randint(0, bound, shape, generator=generator)


# ---- order ----

case("sort_1x1e6", lambda x: x.sort(dim=-1)[0] * torch.arange(1_000_000), r(1, 1_000_000))
case(
    "argsort_gather_1x1e6",
    lambda x, y: y.gather(1, x.argsort(dim=-1)),
    r(1, 1_000_000),
    r(1, 1_000_000),
)
case("topk100_1x1e6", lambda x: x.topk(100, dim=-1)[0], r(1, 1_000_000))
case("median_1x1e6", lambda x: x.median(dim=-1)[0], r(1, 1_000_000))
case("sort_64x1e4", lambda x: x.sort(dim=-1)[0] * torch.arange(x.shape[-1]), r(64, 10_000))
case("sort_dim0_1e4x64", lambda x: x.sort(dim=0)[0] * torch.arange(x.shape[-1]), r(10_000, 64))
case("sort_4096x100", lambda x: x.sort(dim=-1)[0] * torch.arange(x.shape[-1]), r(4096, 100))
case("topk50_64x50257", lambda x: x.topk(50, dim=-1)[0], r(64, 50257))
case("topk2_8192x1000", lambda x: x.topk(2, dim=-1)[0], r(8192, 1000))
case("median_1024x1000", lambda x: x.median(dim=-1)[0], r(1024, 1000))
case("kthvalue_64x10000", lambda x: x.kthvalue(2500, dim=-1)[0], r(64, 10_000))
case("quantile_1024x1000", lambda x: x.quantile(0.9, dim=-1), r(1024, 1000))

# ---- scans ----

case("cumsum_1x1e6", lambda x: x.cumsum(-1) * 1e-3, r(1, 1_000_000))
case("cumsum_dim0_1e4x256", lambda x: x.cumsum(0) * 1e-3, r(10_000, 256))
case("cumprod_dim0_1024x1024", lambda x: (1 + 1e-3 * x).cumprod(0), r(1024, 1024))
case("logcumsumexp_512x1000", lambda x: x.logcumsumexp(-1), r(512, 1000))
case("cummax_dim0_2000x512", lambda x: x.cummax(0)[0], r(2000, 512))
case("max_dim1_64x100x1000", lambda x: x.max(1)[0], r(64, 100, 1000))
case("max_1x1e6", lambda x: x.max(1)[0], r(1, 1_000_000))

# ---- gather and scatter ----


def gat(x, al, ar, s, d):
    e = F.leaky_relu(al[s] + ar[d], 0.2)
    m = torch.full_like(al, -1e9).scatter_reduce(0, d, e, "amax").detach()
    w = (e - m[d]).exp()
    z = torch.zeros_like(al).index_add(0, d, w)
    w = w / (z[d] + 1e-9)
    return torch.zeros_like(x).index_add(0, d, x[s] * w[:, None])


case(
    "gat_2e5x64",
    gat,
    r(20_000, 64),
    r(20_000),
    r(20_000),
    args=(i(20_000, 200_000), i(20_000, 200_000)),
)
case(
    "embedding_1Mx16_b65536",
    lambda m, ix: m(ix),
    mods=(lambda: nn.Embedding(1_000_000, 16),),
    args=(i(1_000_000, 65536),),
)
case(
    "embbag_mean_100kx64",
    lambda m, ix: m(ix),
    mods=(lambda: nn.EmbeddingBag(100_000, 64, mode="mean"),),
    args=(i(100_000, 4096, 50),),
)
case(
    "gather_dim0_1000x1024",
    lambda x, ix: x.gather(0, ix),
    r(1000, 1024),
    args=(i(1000, 1000, 1024),),
)
case(
    "index_put_acc",
    lambda x, v, a: x.index_put((a,), v, accumulate=True),
    r(100_000),
    r(500_000),
    args=(i(100_000, 500_000),),
)
case("index_select_dim1", lambda x, a: x.index_select(1, a), r(128, 4096, 8), args=(i(4096, 8192),))
case(
    "scatter_dim1_rows",
    lambda x, v, a: x.scatter_add(1, a, v),
    r(1024, 1000),
    r(1024, 1000),
    args=(i(1000, 1024, 1000),),
)


def edges_expanded(x, s, d):
    d = d[:, None].expand(-1, x.shape[1])
    return torch.zeros_like(x).scatter_add(0, d, x[s].relu())


def masked_autoencoder(x, t, noise):
    order = noise.argsort(1)
    kept = order[:, :64, None].repeat(1, 1, x.shape[-1])
    back = order.argsort(1)[..., None].expand(x.shape)
    seen = x.gather(1, kept).tanh()
    hidden = t.expand(x.shape[0], x.shape[1] - 64, -1)
    return torch.cat([seen, hidden], 1).gather(1, back)


case(
    "edges_expanded_2e5x64",
    edges_expanded,
    r(20_000, 64),
    args=(i(20_000, 200_000), i(20_000, 200_000)),
)
# Known indices.
shuffled = torch.randperm(4096, generator=generator)
pairs = torch.triu_indices(64, 64, 1)
case("permuted_rows_4096x256", lambda x: x[shuffled], r(4096, 256))
case("permuted_columns_256x4096", lambda x: x[:, shuffled], r(256, 4096))
case("pairs_of_64_by_512", lambda x: x[:, pairs[0], pairs[1]], r(512, 64, 64))
case("masked_autoencoder_16x256x192", masked_autoencoder, r(16, 256, 192), r(192), args=(r(16, 256),))


def lovasz(x, t):
    loss = 0
    pr = x.softmax(1)
    for c in range(x.shape[1]):
        fg = (t == c).float()
        err = (fg - pr[:, c]).abs()
        es, perm = torch.sort(err, 0, descending=True)
        fs = fg[perm]
        gts = fs.sum()
        inter = gts - fs.cumsum(0)
        un = gts + (1 - fs).cumsum(0)
        j = 1 - inter / un
        j = torch.cat([j[:1], j[1:] - j[:-1]])
        loss = loss + (es * j).sum()
    return loss / x.shape[1]


case("lovasz_65536x8", lovasz, r(65536, 8), args=(i(8, 65536),))

# ---- convolutions ----

case("conv2d_one_place", F.conv2d, r(64, 256, 4, 4), r(1, 256, 4, 4))
case(
    "conv1d_dil_wavenet",
    lambda x, m, m2, m3: m3(F.relu(m2(F.relu(m(x))))),
    r(4, 64, 8000),
    mods=[(lambda d=d: nn.Conv1d(64, 64, 2, dilation=d)) for d in (1, 8, 64)],
)
case(
    "conv1d_dw_k31",
    lambda x, m: m(x),
    r(8, 256, 1000),
    mods=(lambda: nn.Conv1d(256, 256, 31, padding=15, groups=256),),
)
case(
    "conv1d_causal_k4_dw",
    lambda x, m: m(x)[:, :, :1024],
    r(8, 512, 1024),
    mods=(lambda: nn.Conv1d(512, 512, 4, padding=3, groups=512),),
)
case(
    "conv2d_dw_k7",
    lambda x, m: m(x),
    r(8, 96, 56, 56),
    mods=(lambda: nn.Conv2d(96, 96, 7, padding=3, groups=96),),
)
case(
    "conv2d_dilated",
    lambda x, m: m(x),
    r(4, 128, 48, 48),
    mods=(lambda: nn.Conv2d(128, 128, 3, padding=6, dilation=6),),
)
case(
    "conv2d_31x31_dw",
    lambda x, m: m(x),
    r(2, 64, 56, 56),
    mods=(lambda: nn.Conv2d(64, 64, 31, padding=15, groups=64),),
)
case(
    "convT2d_k4s2",
    lambda x, m: m(x),
    r(8, 128, 28, 28),
    mods=(lambda: nn.ConvTranspose2d(128, 64, 4, stride=2, padding=1),),
)
case(
    "convT1d_vocoder",
    lambda x, m: m(x),
    r(4, 256, 400),
    mods=(lambda: nn.ConvTranspose1d(256, 128, 16, stride=8, padding=4),),
)
case(
    "conv3d_dw",
    lambda x, m: m(x),
    r(2, 32, 16, 56, 56),
    mods=(lambda: nn.Conv3d(32, 32, 3, padding=1, groups=32),),
)

# ---- windows and images ----

case("maxpool_k2", lambda x: F.max_pool2d(x, 2), r(8, 64, 112, 112))
case("maxpool_k3s2", lambda x: F.max_pool2d(x, 3, 2, 1), r(8, 64, 112, 112))
case(
    "stem_8x3x112x112",
    lambda x, m: m(x),
    r(8, 3, 112, 112),
    mods=(
        lambda: nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        ),
    ),
)
case("maxpool2d_k5", lambda x: F.max_pool2d(x, 5, 1, 2), r(8, 256, 40, 40))
case("maxpool2d_k9", lambda x: F.max_pool2d(x, 9, 1, 4), r(8, 256, 20, 20))
case("maxpool2d_k13", lambda x: F.max_pool2d(x, 13, 1, 6), r(4, 128, 20, 20))
case("maxpool3d", lambda x: F.max_pool3d(x, 3, 2), r(2, 32, 16, 56, 56))
case("adaptive_max_7", lambda x: F.adaptive_max_pool2d(x, 7), r(8, 256, 30, 30))
case("avgpool2d_k7", lambda x: F.avg_pool2d(x, 7, 1, 3), r(8, 64, 56, 56))
case("lppool", lambda x: F.lp_pool2d(x.abs() + 0.1, 2, 3), r(8, 64, 56, 56))
case(
    "interp_bicubic_up2",
    lambda x: F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False),
    r(4, 64, 56, 56),
)
case("interp_bilinear_up8", lambda x: F.interpolate(x, scale_factor=8, mode="bilinear"), r(4, 21, 32, 32))
case(
    "interp_bilinear_aa_down",
    lambda x: F.interpolate(x, size=(56, 56), mode="bilinear", antialias=True),
    r(4, 16, 224, 224),
)
case(
    "grid_sample",
    lambda x, gr: F.grid_sample(x, gr, align_corners=False),
    r(4, 32, 64, 64),
    lambda: torch.rand(4, 64, 64, 2, generator=generator) * 2 - 1,
)
case("unfold_k3", lambda x: F.unfold(x, 3, padding=1), r(4, 64, 56, 56))
case("fold_k3", lambda x: F.fold(x, (56, 56), 3, padding=1), r(4, 64 * 9, 3136))
case("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), r(8, 256, 56, 56))
case(
    "window_partition",
    lambda x: x.view(8, 8, 7, 8, 7, 96)
    .permute(0, 1, 3, 2, 4, 5)
    .reshape(-1, 49, 96)
    .square()
    .sum(1),
    r(8, 56, 56, 96),
)
case("pad_reflect", lambda x: F.pad(x, (3, 3, 3, 3), mode="reflect"), r(8, 64, 56, 56))

# ---- normalisations ----

case("bn1d_16x65x1999", lambda x, m: m(x), r(16, 65, 1999), mods=(lambda: nn.BatchNorm1d(65),))
case("bn3d", lambda x, m: m(x), r(2, 33, 15, 57, 57), mods=(lambda: nn.BatchNorm3d(33),))
case("gn32_8x256x57", lambda x, m: m(x), r(8, 256, 57, 57), mods=(lambda: nn.GroupNorm(32, 256),))
case("gn1_long", lambda x, m: m(x), r(4, 64, 16001), mods=(lambda: nn.GroupNorm(1, 64),))
case(
    "in2d",
    lambda x, m: m(x),
    r(8, 64, 113, 113),
    mods=(lambda: nn.InstanceNorm2d(64, affine=True),),
)
case("ln_1e5x33", lambda x, m: m(x), r(100_000, 33), mods=(lambda: nn.LayerNorm(33),))
case(
    "ln_channels_first",
    lambda x, m: m(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2),
    r(8, 96, 56, 56),
    mods=(lambda: nn.LayerNorm(96),),
)
case("ln_1x1e6", lambda x, m: m(x), r(1, 1_000_000), mods=(lambda: nn.LayerNorm(1_000_000),))
case("lrn", lambda x: F.local_response_norm(x, 5), r(8, 96, 55, 55))

# ---- softmax ----

case("softmax_dim1_nchw", lambda x: x.softmax(1), r(8, 21, 128, 128))
case("softmax_dim0_1e5x4", lambda x: x.softmax(0), r(100_000, 4))
case("softmax_mid_64x49x256", lambda x: x.softmax(1), r(64, 49, 256))
case("ce_50k", lambda x, t: F.cross_entropy(x, t), r(256, 50257), args=(i(50257, 256),))
case("log_softmax_50k", lambda x: x.log_softmax(-1), r(128, 50257))
case("gumbel_softmax", lambda x: F.gumbel_softmax(x, hard=True), r(4096, 320))

# ---- products ----

case(
    "einsum_tri",
    lambda a, c: torch.einsum("bikc,bjkc->bijc", a, c),
    r(1, 96, 96, 64),
    r(1, 96, 96, 64),
)
case("bmm_tiny_4x4_65536", lambda a, c: a @ c, r(65536, 4, 4), r(65536, 4, 4))
case("bmm_tiny_3x3v_1e5", lambda a, c: a @ c, r(100_000, 3, 3), r(100_000, 3, 1))
case("bmm_32_4096", lambda a, c: a @ c, r(2048, 32, 32), r(2048, 32, 32))
case("matvec_4096", lambda w, x: w @ x, r(4096, 4096), r(4096))
case("linear_tall_1e5x8x8", lambda x, m: m(x), r(100_000, 8), mods=(lambda: nn.Linear(8, 8),))

# ---- linear algebra ----


def spd(batch, n):
    def make():
        a = torch.randn(batch, n, n, generator=generator)
        return a @ a.mT / n + torch.eye(n)

    return make


case("cholesky_1x256", lambda a: torch.linalg.cholesky(a), spd(1, 256))
case("cholesky_1x1024", lambda a: torch.linalg.cholesky(a), spd(1, 1024))
case("inverse_1x1024", lambda a: torch.linalg.inv(a), spd(1, 1024))
case("solve_1x1024", lambda a, c: torch.linalg.solve(a, c), spd(1, 1024), r(1, 1024, 4))
case("cholesky_2048x64", lambda a: torch.linalg.cholesky(a), spd(2048, 64))
case("solve_512x96", lambda a, c: torch.linalg.solve(a, c), spd(512, 96), r(512, 96, 4))
case("cholesky_64x64", lambda a: torch.linalg.cholesky(a), spd(64, 64))
case("solve_256x32", lambda a, c: torch.linalg.solve(a, c), spd(256, 32), r(256, 32, 4))
case("inverse_1x256", lambda a: torch.linalg.inv(a), spd(1, 256))
case("svd_1024x3", lambda a: torch.linalg.svd(a)[1], r(1024, 3, 3))
case("eigh_64x32", lambda a: torch.linalg.eigh(a + a.mT)[0], r(64, 32, 32))
case("qr_128x32", lambda a: torch.linalg.qr(a)[0], r(128, 32, 32))

# ---- spectra ----

case("rfft_64x1024", lambda x: torch.fft.rfft(x).abs(), r(64, 1024))
case("rfft2_8x256x256", lambda x: torch.fft.rfft2(x).abs(), r(8, 256, 256))
case("fft_256x4096", lambda x, y: torch.fft.fft(torch.complex(x, y)).abs(), *[r(256, 4096)] * 2)
case(
    "stft_8x64000",
    lambda x: torch.stft(x, 1024, 256, window=torch.hann_window(1024), return_complex=True).abs(),
    r(8, 64_000),
)
case(
    "fftconv_4096",
    lambda x, k: torch.fft.irfft(torch.fft.rfft(x, n=8192) * torch.fft.rfft(k, n=8192), n=8192)[
        ..., :4096
    ],
    r(4, 64, 4096),
    r(64, 4096),
)

# ---- recurrent ----

case(
    "lstm_b32_t50_h256",
    lambda x, m: m(x)[0],
    r(32, 50, 128),
    mods=(lambda: nn.LSTM(128, 256, batch_first=True),),
)

# ---- attention ----

case(
    "sdpa_causal_1024",
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    r(2, 8, 1024, 64),
    r(2, 8, 1024, 64),
    r(2, 8, 1024, 64),
)
case(
    "sdpa_4096",
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
    r(1, 2, 4096, 64),
    r(1, 2, 4096, 64),
    r(1, 2, 4096, 64),
)
case(
    "encoder_layer",
    lambda x, m: m(x),
    r(8, 256, 256),
    mods=(lambda: nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True),),
)


def linattn(q, k, v):
    q = F.elu(q) + 1
    k = F.elu(k) + 1
    kv = k.mT @ v
    return (q @ kv) / (q @ k.sum(2, keepdim=True).mT)


case("linear_attn", linattn, r(4, 8, 1024, 64), r(4, 8, 1024, 64), r(4, 8, 1024, 64))
case(
    "rope",
    lambda x, c, s: x * c + torch.cat([-x[..., 32:], x[..., :32]], -1) * s,
    r(4, 8, 1024, 64),
    r(1024, 64),
    r(1024, 64),
)

# ---- elementwise ----

case("dropout_4M", lambda x: F.dropout(x, 0.1), r(4096, 1024))
case("gelu_4M", lambda x: F.gelu(x), r(4096, 1024))
case(
    "chain_4M",
    lambda x: torch.erf(x).abs().add(1e-3).pow(1.7).sin() + torch.atan2(x, x.cos() + 2),
    r(4096, 1024),
)
case(
    "fmod_floor", lambda x: torch.remainder(x, 0.7) + torch.fmod(x, 0.3) + x.floor(), r(1024, 1024)
)

# ---- reductions ----

case("sum_mid", lambda x: x.sum(1), r(64, 200, 500))
case("var_dim0_1e5x8", lambda x: x.var(0), r(100_000, 8))
case("sum_last3_1e6", lambda x: x.sin().sum(-1), r(1_000_000, 3))

# ---- layout ----

case(
    "permute5",
    lambda x: x.permute(0, 3, 1, 4, 2).contiguous() * torch.arange(16),
    r(8, 32, 16, 32, 32),
)
case("transpose_4096x1024", lambda x: x.t().contiguous() * torch.arange(4096), r(4096, 1024))
case("cat_64", lambda *xs: torch.cat(xs, 1), *[r(256, 64) for _ in range(64)])
case("stack_64_last", lambda *xs: torch.stack(xs, -1), *[r(256, 64) for _ in range(64)])
case("chunk_softmax", lambda x: torch.cat([a.softmax(-1) for a in x.chunk(32, 1)], 1), r(512, 2048))

# ---- losses ----

case("cdist_1024x64", lambda a, c: torch.cdist(a, c), r(1024, 64), r(1024, 64))
case("distances_l1_1024x64", lambda a, c: (a[:, None] - c[None]).abs().sum(-1), r(1024, 64), r(1024, 64))
case(
    "nearest_2048x3",
    lambda a, c: (a[:, :, None] - c[:, None]).square().sum(-1).min(2)[0],
    r(4, 2048, 3),
    r(4, 2048, 3),
)
case("chamfer_2048x3", lambda a, c: torch.cdist(a, c).min(2)[0], r(4, 2048, 3), r(4, 2048, 3))
case(
    "cos_matrix",
    lambda a, c: F.cosine_similarity(a[:, None], c[None], dim=-1),
    r(512, 64),
    r(512, 64),
)


def hard(a):
    d = torch.cdist(a, a)
    lab = torch.arange(512) // 8
    same = lab[:, None] == lab[None]
    return F.relu((d * same).max(1)[0] - d.masked_fill(same, 1e9).min(1)[0] + 0.3).mean()


case("triplet_hard", hard, r(512, 128))
case(
    "ssim",
    lambda x, y: (
        lambda mu: (2 * mu(x) * mu(y) + 1e-4)
        / (mu(x) ** 2 + mu(y) ** 2 + 1e-4)
        * (2 * (mu(x * y) - mu(x) * mu(y)) + 1e-3)
        / (mu(x * x) - mu(x) ** 2 + mu(y * y) - mu(y) ** 2 + 1e-3)
    )(lambda z: F.conv2d(z, torch.full((3, 1, 11, 11), 1 / 121.0), groups=3)),
    r(4, 3, 224, 224),
    r(4, 3, 224, 224),
)

# ---- sequential ----


def selscan(u, dt, A, B, Cc):
    dA = torch.exp(dt[..., None] * A)
    dBu = dt[..., None] * B[:, :, None] * u[..., None]
    h = torch.zeros(u.shape[0], u.shape[2], A.shape[1])
    ys = []
    for t in range(u.shape[1]):
        h = dA[:, t] * h + dBu[:, t]
        ys.append((h * Cc[:, t, None]).sum(-1))
    return torch.stack(ys, 1)


case(
    "mamba_t128_d256",
    selscan,
    r(4, 128, 256),
    lambda: torch.rand(4, 128, 256, generator=generator) * 0.1,
    lambda: -torch.rand(256, 16, generator=generator),
    r(4, 128, 16),
    r(4, 128, 16),
)


def sinkhorn(c):
    k = -c / 0.1
    f = torch.zeros(c.shape[:-1])
    h = torch.zeros_like(f)
    for _ in range(20):
        f = -torch.logsumexp(k + h[:, None, :], -1)
        h = -torch.logsumexp(k + f[:, :, None], 1)
    return (k + f[:, :, None] + h[:, None, :]).exp() * c


case("sinkhorn_8x128", sinkhorn, lambda: torch.rand(8, 128, 128, generator=generator))


def rk4(x, w1, w2):
    f = lambda y: torch.tanh(y @ w1) @ w2
    for _ in range(10):
        k1 = f(x)
        k2 = f(x + 0.05 * k1)
        k3 = f(x + 0.05 * k2)
        k4 = f(x + 0.1 * k3)
        x = x + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x


case("rk4_10", rk4, r(256, 64), r(64, 64), r(64, 64))


def crf(e, tr):
    a = e[:, 0]
    for t in range(1, 64):
        a = torch.logsumexp(a[:, :, None] + tr, 1) + e[:, t]
    return a.logsumexp(1).mean()


case("crf_64x20", crf, r(32, 64, 20), r(20, 20))
