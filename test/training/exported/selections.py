# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that select by masks of which the data decide how many elements are true."""

import torch
from torch import nn
from torch.nn import functional as F


class Masked(nn.Module):
    """What masks select that depend on data: written back where they came from, averaged, classified."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 6)
        self.head = nn.Linear(6, 3)
        self.scale = nn.Parameter(torch.ones(6))

    def forward(self, x):
        y = self.mix(x)
        leaky = y.clone()
        leaky[leaky < 0] *= 0.5
        leaky[leaky > 0.1] = leaky[leaky > 0.1].sqrt()
        positive = y > 0
        other = y.clone()
        other[positive] += (y[positive] * 2).log() + y.detach().exp()[positive]
        rows = x[..., 0] > 0
        classes = (x[..., 1] > 0).long() + (x[..., 2] > 0)
        scores = self.head(y[rows])
        # As PyTorch does, a row that is not selected takes no part, whatever its value and gradient would be.
        never = y > 99
        odd = (x[positive[..., :4]] * 9).long() % 2 == 1
        losses = F.mse_loss(y[positive], y.detach().sin()[positive]), F.smooth_l1_loss(y[rows], y[rows] * self.scale + 1, reduction="sum")
        return (leaky, other, y[positive].mean(), y.masked_select(positive).exp().reshape(-1).sum(), odd.sum() * y.mean(), (y[never] - 100).log().sum() + self.scale.sum(),
                (y[rows] * self.scale).softmax(-1)[:, 1:3].square().mean(), F.cross_entropy(scores, classes[rows]), *losses,
                y[rows].mean(0).exp(), y[rows].square().sum((1, 0), keepdim=True), *self.along(y, rows))

    def along(self, y, rows):
        """What is reduced, scaled, multiplied, joined and turned along a mask, also behind other dimensions."""
        z, columns = y[0], y.detach().sum((0, 1)) > 0
        some, other = y[rows], y.sin()[rows]
        halved = z.clone()
        halved[:, columns] *= 0.5
        reduced = some.norm(), some.norm(dim=1).sum(), some.max(), some.amin(0), (some * 0.1 + 1).prod(0), some.var(0), some.std(), some.var(1).mean(), (some > 1).any(0) * y.sum()
        scaled = (some.softmax(0) * some).sum(0), some.cumsum(0).square().mean(), F.layer_norm(some, (6,)).pow(3).mean(), F.rms_norm(some, (6,)).pow(3).mean()
        turned = some.t() @ other, (some @ self.head.weight.t()).square().mean(), (self.head.weight @ z.t()[:, rows[0]]).square().sum(1), torch.dot(y[..., 0][rows], y[..., 1][rows])
        joined = torch.cat([some, other], 1).square().mean(), torch.stack([some, other], -1).exp().mean((0, 2)), (some[:, None].expand(-1, 2, -1) * y[0, :2]).sum(0)
        shaped = F.l1_loss(some.flatten(), other.flatten()), some.view(-1, 2, 3).sum(1).square().mean(), some[:, [0, 2]].square().mean(0), some.sort(1)[0][:, 1].mean(), F.cosine_similarity(some, other.exp()).mean()
        counted = some.sum() / some.shape[0], other.square().sum(0) / (1 + some.numel())
        behind = halved, z[:, columns].mean(1), y[..., columns].square().sum(), F.mse_loss(z[:, columns], z.cos()[:, columns]), z[:, columns].sum(0).square().sum(), (z[:, columns] * z[:, :1]).relu().amax(1)
        return *reduced, *scaled, *turned, *joined, *shaped, *counted, *behind


class Culled(nn.Module):
    """What masks select, with the options and along the dimensions that operators have for it."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 6)

    def forward(self, x):
        y = torch.tanh(self.mix(x))
        rows, classes = x[:, 0] > 0, (x > 0).sum(1)
        some, other, behind = y[rows], y.cos()[rows], y.t().reshape(2, 3, 6)[:, :, rows]
        reduced = some.mean(0, keepdim=True).exp(), some.var(0, keepdim=True).exp(), (some * 0.1 + 1).cumprod(0).mean(0)
        losses = F.mse_loss(some, other, reduction="none").sum(0), F.smooth_l1_loss(some, other, reduction="sum"), F.cross_entropy(some, classes[rows], ignore_index=2)
        shaped = some.unsqueeze(0).exp().sum((0, 1)), behind.flatten(0, 1).exp().sum(1), torch.stack([some, other]).exp().sum((0, 1))
        along = F.cosine_similarity(behind, behind.cos(), 0).sum(1), behind.select(1, 2).exp().sum(1), behind.sum(0).exp().sum(1), behind[:, [[0, 2], [1, 1]]].exp().sum(3)
        # Sums of which overflow in 16 bits.
        large = ((y[:, :2] > 0).half() * 400)[rows]
        halves = (large * 100).mean(0) / 40000 * some.mean(), large.var(0, False) / 40000 * some.mean(), large.std() / 400 * some.mean()
        return *reduced, *losses, *shaped, *along, *halves, y.index_put((rows,), some * 2, accumulate=True)


class Spliced(nn.Module):
    """Rows in place of those that a mask selects, as features of images stand among words: as many, added, and the first of more."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 6)
        self.rows, self.more = nn.Parameter(torch.randn(3, 6)), nn.Parameter(torch.randn(5, 6))

    def forward(self, x):
        y = torch.tanh(self.mix(x))[None]
        mask = (x[:, 0] > x[:, 0].sort()[0][3])[None]  # three of seven
        put, added, first = y.clone(), y.clone(), y.clone()
        put[mask] = self.rows
        added[mask, :] = added[mask, :] + self.rows
        count = mask.sum().item()
        torch._check(count <= 5)
        first[mask] = self.more[:count] * 2
        picked = y[0][x[:, 1] > 0].exp()
        begun = y[0].slice_scatter(picked, 0, 0, picked.shape[0])
        return put, added, first, y.masked_scatter(mask[..., None], self.more), begun


class Sifted(nn.Module):
    """What masks select, in another order, several times, along other dimensions, and in other shapes; where some are selected, all and none."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 6)

    def forward(self, x):
        y, w = torch.tanh(self.mix(x)), torch.linspace(-1, 1, 6).to(x)
        results = ()
        for least in (0.1, -99, 99):
            rows = x[:, 0] > least
            some, cube, behind = y[rows], torch.stack([y, y.exp(), y.cos()], 1)[rows], torch.stack([y.t(), y.t().exp()])[:, :, rows]
            turned = some.flip(0).cumsum(0).sum(0), some.flip((0, 1)).softmax(0).mul(w).sum(0), behind.flip(2).cumsum(2).sum((0, 2)), (some.flip(0) * y.sin()[rows].flip(0)).sum(0)
            repeated = some.repeat_interleave(3, 0).cumsum(0).sum(0), some.repeat_interleave(2, 1).sum(0), behind.repeat_interleave(2, -1).cumsum(-1).sum((0, 2))
            chosen = some.topk(2)[0].sum(0), some.sort()[0].mul(w).sum(0), behind.topk(2, 1)[0].sum((0, 2)), behind.index_select(1, torch.tensor([3, 1])).square().sum((0, 2))
            shaped = cube.flatten(0, 1).cumsum(0).sum(0), some.view(-1, 2).cumsum(0).sum(0), behind.flatten(1, 2).cumsum(1).sum(1), cube.view(-1, 6).cumsum(0).sum(0)
            if least < 99:
                chosen += some.argmax(0).sum() * y.mean(), some[:, 0].argmin() * y.sum(), (behind.argmax(-1, keepdim=True) + 1).sum() * y.mean()
            longer = torch.cat([some, y[x[:, 1] > 0], w[None]]).cumsum(0).sum(0), torch.cat([behind, behind.cos()], 2).cumsum(2).sum((0, 2)), some[some > 0].cumsum(0).sum(), cube[cube.sum((1, 2)) > 0].cumsum(0).sum((0, 1))
            results += *turned, *repeated, *chosen, *shaped, *longer
        return results


class Picked(nn.Module):
    """What masks select, in the operators that decomposition and PyTorch's backward pass make of it."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 6)

    def forward(self, x):
        y = torch.tanh(self.mix(x))
        rows, columns = x[:, 0] > 0, x.sum(0) > 0
        some = y[rows]
        halved = torch.where(rows[:, None], y * 0.5, y)
        return halved, some.square().mean(), (some.softmax(-1) * y.exp()[rows]).sum(), F.mse_loss(some, y.sin()[rows]), self.mix.weight[:, columns].square().sum(), some.sum(0) / some.shape[0]


class Gleaned(nn.Module):
    """What masks select, in operators that have backward ones of their own, and in sizes that say how many elements that are."""

    def __init__(self):
        super().__init__()
        self.mix, self.words, self.norm, self.groups, self.conv = nn.Linear(4, 6), nn.Embedding(3, 6), nn.LayerNorm(6), nn.GroupNorm(2, 4), nn.Conv1d(2, 2, 3)

    def forward(self, x):
        y = torch.tanh(self.mix(x))
        rows, classes, w = x[:, 0] > 0, (x[:, 1] > 0).long() + (x[:, 2] > 0), torch.linspace(-1, 1, 6).to(x)
        some, other, truth = y[rows], y.cos()[rows], x[:, [0, 1, 2, 3, 1, 2]].sigmoid()[rows]
        count = some.shape[0]
        normal = self.norm(some * other).pow(3).mean(0), self.groups(torch.stack([y, y.exp(), y.sin(), w * y], 1)[rows]).pow(3).mean(0)
        losses = F.cross_entropy(some, classes[rows], ignore_index=2), F.huber_loss(some, other), F.smooth_l1_loss(some, other, reduction="sum"), F.mse_loss(other, some, reduction="none").square().sum()
        losses += F.binary_cross_entropy(some.sigmoid(), truth), F.binary_cross_entropy_with_logits(other, truth), F.kl_div(some.log_softmax(-1), truth, reduction="batchmean")
        active = (F.gelu(some) + F.silu(some) + F.elu(some) + F.mish(some) + F.hardswish(some * 9)).sum(0), F.normalize(some * other).sum(0), (F.softplus(other) + F.leaky_relu(some) + F.hardtanh(other * 2)).mean()
        along = (some.softmax(0) * other).sum(0), (some.log_softmax(0) * other).square().sum(0)
        parts = self.conv(y.view(7, 2, 3)[rows]).square().sum(0), self.words(classes[rows]).square().sum(0), some[:, 2] @ other[:, -1], y[classes[rows]].cos().sum(0), (some[:, 1:4] * other[:, 2:5]).sum(0)
        shaped = some.view(count, 2, 3).exp().sum((0, 2)), (w.expand(count, 6) * some).sum(0), (torch.ones(count, 6) + torch.zeros(count, 1) - some).square().sum(0)
        shaped += y.index_put((rows,), some * other, accumulate=True), y.masked_scatter(y > 0, y.exp()[y > 0]), (x * y.masked_select(y > 99).sum()).sum()
        shaped += y.masked_scatter(rows[:, None], self.norm(y.cos()[rows])), y.masked_scatter(~rows[:, None], y.sin()[~rows]), y.masked_scatter(rows[:, None].expand_as(y), y.exp()[rows])
        # Where nothing is selected, 1 / 0 is nowhere, and gradients of what is there for all are 0.
        never = y[x[:, 0] > 99]
        least = never / never.shape[0]
        nothing = self.norm(least).sum(), (never @ self.mix.weight / never.shape[0]).sum(), self.conv(least.view(-1, 2, 3)).sum(), (some * (1 / count)).sum(0)
        return *normal, *losses, *active, *along, *parts, *shaped, *nothing


class Located(nn.Module):
    """Where masks are true: indices that depend on data, read at and written to, also where there are none."""

    def __init__(self):
        super().__init__()
        self.mix, self.gate, self.experts = nn.Linear(4, 6), nn.Linear(4, 3), nn.Parameter(torch.linspace(-1, 1, 18).view(3, 6))

    def forward(self, x):
        y, w = torch.tanh(self.mix(x)), torch.linspace(-1, 1, 6).to(x)
        results = ()
        for least in (0.1, 99):
            rows, = torch.where(x[:, 0] > least)
            columns = (y.detach().sum(0) > least).nonzero().squeeze(1)
            i, j = (y > least).nonzero(as_tuple=True)
            read = y[rows].exp().sum(0), y[:, columns].square().sum(1), (y[i, j] * w[j]).sum(), y.index_select(0, rows).cos().sum(0)
            written, behind, both, last = y.clone(), y.clone(), y.clone(), y.clone()
            written[rows] = y[rows].sin()
            behind[:, columns] = 0.5 * y[:, columns]
            both[i, j] = y[i, j].square()
            last[rows - 7] = 0.5
            added = y.index_put((rows,), y[rows].sin(), accumulate=True), torch.zeros_like(y).index_add(0, rows, y[rows] * w), y.index_copy(0, rows, y[rows].exp())
            results += *read, written, behind, both, last, *added
        weights, chosen = self.gate(x).softmax(-1).topk(2)
        mixed = torch.zeros_like(y)
        for expert in range(3):
            token, place = torch.where(chosen == expert)
            mixed.index_add_(0, token, torch.tanh(y[token] * self.experts[expert]) * weights[token, place, None])
        pairs = torch.stack([y, y.cos()], 1)[(x[:, 0] > 0.1).nonzero().flatten()]
        return *results, mixed, (pairs @ pairs.transpose(1, 2)).square().sum(0), torch.bmm(pairs, pairs.mT).sum(0)


class Singled(nn.Module):
    """What masks select, in operators that ONNX has: functions, products, reductions, shapes, losses, and what is written back."""

    def __init__(self):
        super().__init__()
        self.mix, self.norm, self.conv, self.groups = nn.Linear(4, 6), nn.LayerNorm(6), nn.Conv1d(1, 2, 3), nn.GroupNorm(2, 4)

    def forward(self, x):
        y, w = torch.tanh(self.mix(x)), torch.linspace(-1, 1, 6).to(x)
        rows, classes, positive, one = x[:, 0] > 0, (x[:, 1] > 0).long() + (x[:, 2] > 0), y > 0, torch.ones(2, 6)
        some, other, each = y[rows], y.cos()[rows], y[positive]
        active = torch.sigmoid(each) + torch.relu(each) + F.leaky_relu(each) + F.elu(each) + F.softplus(each) + F.hardswish(each) + F.gelu(each) + F.mish(each) + F.hardtanh(each, -0.2, 0.2)
        plain = active.sum() / each.shape[0], each.abs().sqrt().log().mean(), (each.exp() - each.sin() * 2).pow(2).mean(), each.std(), each.max(), each.clamp(min=0.1).sum(), torch.where(each > 0.2, each, each * 3).sum()
        reduced = some.amax(0).sum(), some.amin(1).sum(), some.mean(0, keepdim=True).exp(), some.norm(dim=0), some.logsumexp(0), some.cumsum(0).square().sum(0), some.softmax(-1).mul(other).sum(0), some.log_softmax(0).mul(other).sum(0)
        products = self.norm(some).pow(3).mean(0), (some @ self.mix.weight).square().sum(0), F.linear(some, self.norm.weight * one).exp().sum(0), some.t() @ other, self.conv(some[:, None]).square().sum((0, 2)), self.groups(torch.stack([y, y.exp(), y.sin(), w * y], 1)[rows]).pow(3).mean(0)
        losses = F.cross_entropy(some, classes[rows]), F.nll_loss(some, classes[rows], reduction="sum"), F.mse_loss(some, other), F.smooth_l1_loss(some, other, reduction="sum"), F.kl_div(some.log_softmax(-1), other.softmax(-1), reduction="batchmean")
        shaped = some.view(some.shape[0], 2, 3).exp().sum((0, 2)), (w.expand(some.shape[0], 6) * some).sum(0), torch.cat([some, y, other]).cumsum(0).sum(0), torch.cat([some, other], 1)[:, 2:9:2].sum(0), torch.stack([some, other], 1)[:, 1].sum(0), some.gather(1, classes[rows][:, None]).sum(), y[classes[rows]].sum(0), some[:, [0, 2]].exp().sum(0)
        written, row, added = y.clone(), y.clone(), y.clone()
        written[positive] = each * 2 + 1
        row[rows] = some * other
        return *plain, *reduced, *products, *losses, *shaped, written, row, added.index_put((positive,), each.exp(), accumulate=True), y.masked_scatter(positive, each.exp())


class Attended(nn.Module):
    """What masks select, in attention, in sums of products, padded to sizes that do not depend on data, and with parts overwritten."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 6)

    def forward(self, x):
        y = torch.tanh(self.mix(x))
        w = torch.linspace(-1, 1, 42).view(7, 6).to(x)
        results = ()
        for least in (0.1, 99):
            rows = x[:, 0] > least
            some, other = y[rows], y.cos()[rows]
            queries = F.scaled_dot_product_attention(some[None, None], y[None, None], y.exp()[None, None])
            keys = F.scaled_dot_product_attention(y[None], some[None], other[None])[0]
            causal = F.scaled_dot_product_attention(some, other, some * other, is_causal=True)
            samples = F.scaled_dot_product_attention(some.view(-1, 3, 2), other.view(-1, 3, 2), w.view(7, 3, 2)[rows])
            biased = F.scaled_dot_product_attention(some, y, y.sin(), attn_mask=(y @ w.t())[rows])
            few = F.scaled_dot_product_attention(y, some, other, attn_mask=(y @ w.t())[:, rows])
            chosen = F.scaled_dot_product_attention(some, other, some, attn_mask=(x[:, 1] > -1)[rows][None])
            results += queries.square().sum((0, 1, 2)), keys, causal.square().sum(0), samples.square().sum(0), biased.square().sum(0), few, chosen.square().sum(0)
            results += torch.einsum("nd,nk->dk", some, other), torch.einsum("kd,nd->kn", y, some).exp().sum(1), torch.einsum("nd,nd->n", some, other).square().sum()
            # As many as there are, behind one another, with something else behind them; and others beside these.
            columns = y[:, y.sum(0) > least]
            results += F.pad(some * other, (1, 0, 0, 9 - some.shape[0]), value=0.5), F.pad(columns, (0, 6 - columns.shape[1]))
            results += torch.cat([some, torch.zeros(7 - some.shape[0], 6)]), F.pad(some, (2, 1)).cumsum(1).sum(0), F.pad(some, (0, 0, 1, 2), value=1.5).cumsum(0).sum(0)
            near = some.clone()
            near[other[:, 0] > 0.9] -= 1
            near[near > 0.5] *= 0.5
            near[other[:, 1] > 0.9] = 2
            results += (near * other).sum(0),
            both = torch.cat([w, some])[None]
            left, right = F.pad(F.scaled_dot_product_attention(both, both.sin(), both), (0, 0, 0, 14 - both.shape[1])).split(7, 1)
            results += left, right
        return results


class Fitted(nn.Module):
    """What masks select beside tensors that have an element for each: the class of each row, all rows, as many as there are rows."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 6)

    def forward(self, x):
        y = torch.tanh(self.mix(x))
        classes = x.argmax(1)
        hits = F.one_hot(classes, 6) > 0
        rows, columns, w, scores = y[hits.any(1)], y.t()[:, hits.any(1)], x[:, 1], y[hits]
        # The margin of an angle, which takes part in the logits of the class alone.
        margins = ((0.9 * scores).acos() + 0.3).cos() - scores
        logits = 8 * (y + hits * margins.unsqueeze(1))
        added, put = y.clone(), y.sin()
        added[hits] += w * y.mean(1)
        put[hits] = scores.exp() * w
        losses = F.cross_entropy(logits, classes), torch.ops.aten.mse_loss(scores, w), torch.ops.aten.smooth_l1_loss(w, scores.exp(), 2)
        chosen = torch.where(scores > 0, w, y[:, 1]), (2.0 ** scores * w).sum(0), torch.addcmul(y, rows, y, value=0.5).exp().sum(0), (scores == y.amax(1)).sum() * y.mean()
        along = (columns * y.t()).cumsum(1).sum(1), (scores.unsqueeze(1) - y).square().sum(0), (w.expand(scores.shape[0]) * scores).sum(), (scores.unsqueeze(1).expand(7, 6) * y).sum(0)
        return *losses, *chosen, *along, added, put, y.index_put((hits,), w, accumulate=True), y.index_put((hits.any(1),), y.mean(1, keepdim=True), accumulate=True)


class Graded(nn.Module):
    """Scores and classes, of which a mask selects as many as there are of the others."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 6)

    def forward(self, x):
        y, classes = torch.tanh(self.mix(x)), x.argmax(1)
        chosen = torch.cat([x[:, 0] > x[:, 1], x[:, 0] <= x[:, 1]])
        rows, labels = torch.cat([y, y.exp()])[chosen], classes.repeat(2)[chosen]
        return F.cross_entropy(rows, classes), F.nll_loss(rows.log_softmax(1), classes, reduction="sum"), F.cross_entropy(y, labels), rows.select(1, 2) * y[:, 1]


class Regrouped(nn.Module):
    """What masks select, of which rows are taken apart and put together again, and a loss for each: distributions of the sides of boxes."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 12)

    def forward(self, x):
        y, w = torch.tanh(self.mix(x)), torch.linspace(-1, 1, 6).to(x)
        results = ()
        for least in (0.1, 99):
            rows = x[:, 0] > least
            some, truth = y[rows], (2 * x.sigmoid())[rows]
            left = truth.long()
            sides, share = some.view(-1, 3), left + 1 - truth
            losses = F.cross_entropy(sides, left.view(-1), reduction="none").view(left.shape) * share
            losses = losses + F.nll_loss(sides.log_softmax(-1), left.view(-1) + 1, reduction="none").view(left.shape) * (1 - share)
            each = F.cross_entropy(some, left[:, 1], reduction="none", label_smoothing=0.1)
            pairs = sides.exp().sum(-1).view(-1, 2)
            results += losses.mean(-1, keepdim=True).sum(), each.square().sum(), pairs.sin().sum(0), (pairs.view(-1, 4) * truth).sum(0)
            results += (sides.view(some.shape[0], 2, 6) * w).exp().sum((0, 2)), (some.flatten().view(some.shape) * some).sum(0)
        return results


class Linked(nn.Module):
    """Messages along the edges of a graph, in which each node has one edge to itself, as PyTorch Geometric's layers have it."""

    def __init__(self):
        super().__init__()
        self.mix, self.heads = nn.Linear(4, 6), nn.Parameter(torch.linspace(-1, 1, 12).view(2, 6))

    def forward(self, x, edges):
        y, nodes = torch.tanh(self.mix(x)), x.shape[0]
        loops = torch.arange(nodes).view(1, -1).repeat(2, 1)
        source, target = torch.cat([edges[:, edges[0] != edges[1]], loops], 1)

        def each(messages):
            return target.view(-1, *[1] * (messages.dim() - 1)).expand_as(messages), messages

        # Weighted by the number of edges (GCN).
        weights = torch.ones(source.shape[0]).to(x)
        degree = weights.new_zeros(nodes).scatter_add_(0, target, weights).pow(-0.5)
        convolved = y.new_zeros(nodes, 6).scatter_add_(0, *each((degree[source] * weights * degree[target]).view(-1, 1) * y.index_select(0, source)))
        # By scores, among the edges to the same node (GAT).
        scores = F.leaky_relu((y @ self.heads[0])[source] + (y @ self.heads[1])[target], 0.2)
        greatest = scores.new_zeros(nodes).scatter_reduce(0, *each(scores.detach()), "amax", include_self=False)
        shares = (scores - greatest[target]).exp()
        shares = shares / shares.new_zeros(nodes).scatter_add(0, *each(shares))[target]
        attended = torch.zeros_like(y).index_add(0, target, shares.view(-1, 1) * y[source])
        # The mean, and no edge of a node to itself.
        some = edges[0] != edges[1]
        across = y[edges[0, some]] * y[edges[1, some]].cos()
        mean = y.scatter_reduce(0, edges[1, some].view(-1, 1).expand_as(across), across, "mean", include_self=False)
        beside = y.gather(0, edges[1, some].view(-1, 1).expand(-1, 6)).square().sum(0)
        return convolved, attended, mean, beside, y.scatter(0, edges[0, some].view(-1, 1).expand(-1, 2), 0.5)
