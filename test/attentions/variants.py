# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions as models write them, and others that only look like one: what a call of a library computes, and what it does not."""

import dataclasses

import torch
from torch import nn

INFINITY = float("inf")
NUMBERS = {"inf": -INFINITY, "1e9": -1e9, "1e30": -1e30, "lowest": torch.finfo(torch.float32).min, "100": -100.0, "zero": 0.0}
SHOWN = ("causal", "anticausal", "one more", "one less", "own", "last", "band", "padding", "keys", "all", "none", "heads or causal")
ADDED = ("bias", "alibi")
WAYS = ("filled", "where", "otherwise", "added")


@dataclasses.dataclass(frozen=True)
class Variant:
    batch: int
    heads: int
    queries: int
    keys: int
    size: int
    key_heads: int
    shared: str  # how heads of keys become those of queries
    scale: str  # what is scaled
    number: float
    product: str
    merged: bool  # scores in three dimensions
    masks: tuple[tuple[str, str, str], ...]  # what is shown or added, how, the number for what is hidden
    bias: tuple[int, ...]
    softmax: str
    again: str  # what else is read
    after: str  # what is done to the weights
    output: str


def draw(random):
    """A variant that most often is an attention, and differs from one in up to two places."""
    pick = random.choice
    batch, heads, size = pick([1, 2, 2, 3]), pick([1, 2, 4, 4]), pick([8, 8, 16])
    queries = pick([4, 5, 8, 8])
    keys = queries if random.random() < 0.6 else pick([4, 6, 8])
    if random.random() < 0.15:  # extents that tell nothing
        batch, heads, queries, keys, size = 4, 4, 8, 8, 8
    key_heads = pick([heads, heads, max(heads // 2, 1), 1])
    usual = {
        "shared": pick(["repeat_interleave", "expand", "expanded heads"]),
        "scale": pick(["query", "key", "scores", "scores by division"]),
        "masks": pick([(), (("causal", "filled", "inf"),), (("causal", "where", "inf"),), (("causal", "added", "inf"),), (("padding", "filled", "inf"),)]
                      + [(("padding", "added", "lowest"),), (("causal", "filled", "inf"), ("padding", "filled", "inf")), (("bias", "", "zero"),), (("bias", "", "zero"), ("causal", "filled", "inf"))]),
        "softmax": pick(["last", "last", "safe"]),
        "again": "",
        "after": "",
        "output": pick(["weights first", "weights first", "values first", "einsum"]),
    }  # fmt: skip
    unusual = {
        "shared": pick(["tiled", "keys repeated, values tiled", "tiled heads"]),
        "scale": pick(["both", "behind the masks", "behind the masks", "nothing"]),
        "masks": tuple((pick(SHOWN + ADDED), pick(WAYS), pick(list(NUMBERS))) for _ in range(pick([1, 1, 2]))),
        "softmax": pick(["queries", "logarithm", "nan_to_num"]),
        "again": pick(["weights", "scores"]),
        "after": pick(["scaled", "causal"]),
        "output": "transposed",
    }
    for place in random.sample(sorted(usual), pick([0, 1, 1, 1, 2])):
        usual[place] = unusual[place]
    number = pick([size**-0.5] * 5 + [-0.3, 2.0, 1.0])
    bias = pick([(1, heads, queries, keys), (heads, queries, keys), (queries, keys), (batch, 1, queries, keys), (1, 1, 1, keys), (queries, 1), (1, heads, 1, 1)])
    product = pick(["matmul", "matmul", "bmm", "transposed", "einsum", "einsum, heads last", "positions first"])
    return Variant(batch, heads, queries, keys, size, key_heads, number=number, product=product, merged=pick([True, False]), bias=bias, **usual)


class Attention(nn.Module):
    """Gives a scalar loss, whose gradients reach queries, keys, values and a bias by projections."""

    def __init__(self, variant):
        super().__init__()
        self.v = v = variant
        width = v.heads * v.size
        self.query, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.key, self.value = nn.Linear(width, v.key_heads * v.size, bias=False), nn.Linear(width, v.key_heads * v.size)
        self.bias = nn.Parameter(torch.randn(v.bias) * 0.5)
        shown = torch.rand(v.batch, max(v.queries, v.keys, 8)) > 0.35
        shown[:, 0] = True
        self.inputs = {"x": torch.randn(v.batch, v.queries, width), "y": torch.randn(v.batch, v.keys, width), "shown": shown}

    def forward(self, x, y, shown):
        v = self.v
        q = self.query(x).view(v.batch, v.queries, v.heads, v.size)
        k, values = (self.as_many_heads(z(y).view(v.batch, v.keys, v.key_heads, v.size), z is self.value) for z in (self.key, self.value))
        if v.scale == "query":
            q = q * v.number
        if v.scale == "key":
            k = k * v.number
        if v.scale == "both":
            q, k = (z * abs(v.number) ** 0.5 for z in (q, k))
        scores, values = self.scores(q, k, values)
        if v.scale == "scores":
            scores = scores * v.number
        if v.scale == "scores by division":
            scores = scores / (1 / v.number)
        for mask in v.masks:
            scores = self.masked(scores, mask, shown)
        if v.scale == "behind the masks":
            scores = scores * v.number
        weights = self.weights(scores)
        again = {"": 0, "weights": (weights * weights).mean(), "scores": scores.clamp(-5, 5).sin().mean()}[v.again]
        if v.after == "scaled":
            weights = weights * 0.7
        if v.after == "causal":
            weights = weights * (torch.arange(v.keys) <= torch.arange(v.queries)[:, None])
        y = self.product(weights, values).reshape(v.batch, v.heads, -1, v.size).transpose(1, 2).flatten(2)
        y = self.out(y)
        turned = torch.cos(torch.arange(float(y.numel())).view(y.shape))
        return {"loss": (y * turned).mean() * 10 + y.square().mean() + again}

    def as_many_heads(self, z, is_value):
        """[batch, keys, heads of queries, size]"""
        v = self.v
        times, how = v.heads // v.key_heads, v.shared
        if times == 1:
            return z
        if how == "repeat_interleave" or (how.startswith("keys repeated") and not is_value):
            return z.repeat_interleave(times, 2)
        if how == "expand":
            return z[:, :, :, None].expand(-1, -1, -1, times, -1).flatten(2, 3)
        if how == "expanded heads":
            return z.transpose(1, 2)[:, :, None].expand(-1, -1, times, -1, -1).flatten(1, 2).transpose(1, 2)
        if how == "tiled heads":
            return z.transpose(1, 2)[:, None].expand(-1, times, -1, -1, -1).flatten(1, 2).transpose(1, 2)
        return z.repeat(1, 1, times, 1)

    def scores(self, q, k, values):
        """Scores and values, of which either may have heads and batch merged."""
        v = self.v
        first = lambda z: z.transpose(1, 2)  # noqa: E731
        if v.product == "einsum":
            return torch.einsum("bthd,bshd->bhts", q, k), first(values)
        if v.product == "einsum, heads last":
            return torch.einsum("bthd,bshd->btsh", q, k).permute(0, 3, 1, 2), first(values)
        if v.product == "transposed":
            return (first(k) @ first(q).transpose(-1, -2)).transpose(-1, -2), first(values)
        if v.product == "matmul":
            return first(q) @ first(k).transpose(-1, -2), first(values)
        if v.product == "bmm":
            q, k, values = (first(z).flatten(0, 1) for z in (q, k, values))
            scores = torch.bmm(q, k.transpose(1, 2))
        else:
            q, k, values = (z.transpose(0, 1).flatten(1, 2) for z in (q, k, values))  # [positions, batch and heads, size]
            scores, values = torch.bmm(q.transpose(0, 1), k.permute(1, 2, 0)), values.transpose(0, 1)
        if v.merged:
            return scores, values
        return (z.unflatten(0, (v.batch, v.heads)) for z in (scores, values))

    def masked(self, scores, mask, shown):
        v = self.v
        what, how, hidden = mask
        hidden = NUMBERS[hidden]
        query, key = torch.arange(v.queries)[:, None], torch.arange(v.keys)
        as_scores = lambda z: z.expand(v.batch, v.heads, v.queries, v.keys).reshape(scores.shape)  # noqa: E731
        if what in ADDED:
            slopes = torch.arange(1.0, v.heads + 1).view(-1, 1, 1)
            return scores + as_scores(self.bias if what == "bias" else (query - key).abs() * slopes * -0.3)
        where = as_scores({
            "causal": key <= query, "anticausal": key >= query, "one more": key <= query + 1, "one less": key < query, "own": key == query,
            "last": key - query <= v.keys - v.queries, "band": (key <= query) & (query - key < 2), "padding": shown[:, None, None, : v.keys],
            "keys": shown[0, : v.keys], "all": key >= 0, "none": key < 0, "heads or causal": shown[:, : v.heads, None, None] | (key <= query),
        }[what])  # fmt: skip
        if how == "filled":
            return scores.masked_fill(~where, hidden)
        if how == "added":
            return scores + torch.zeros(where.shape).masked_fill(~where, hidden)
        return torch.where(where, scores, hidden) if how == "where" else torch.where(~where, hidden, scores)

    def weights(self, scores):
        kind = self.v.softmax
        if kind == "logarithm":
            return scores.log_softmax(-1).exp()
        weights = scores.softmax(-2 if kind == "queries" else -1)
        if kind == "safe":
            return torch.where(weights != weights, 0.0, weights)
        return weights.nan_to_num(0.0) if kind == "nan_to_num" else weights

    def product(self, weights, values):
        kind = self.v.output
        if values.dim() > weights.dim():
            values = values.flatten(0, 1)
        if kind == "values first":
            return (values.transpose(-1, -2) @ weights.transpose(-1, -2)).transpose(-1, -2)
        if kind == "einsum":
            return torch.einsum("...ts,...sd->...td", weights, values)
        if kind == "transposed" and self.v.queries == self.v.keys:
            return weights.transpose(-1, -2) @ values
        return weights @ values
