#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values and gradients of composite ops, computed by PyTorch in double precision.

Writes NnGoldens.inc beside this file. Each case is a function in IR, its arguments, its results, the
cotangents of its float results and the gradients of its float arguments.
"""
import os

import torch
import torch.nn.functional as F

torch.manual_seed(20)
torch.set_default_dtype(torch.float64)
cases = []


def type_of(tensor):
    element = {torch.float64: "f64", torch.int64: "i64", torch.int32: "i32", torch.bool: "i1"}[tensor.dtype]
    return "tensor<" + "".join(f"{extent}x" for extent in tensor.shape) + element + ">"


def line(kind, tensor):
    shape = ",".join(str(extent) for extent in tensor.shape)
    values = " ".join(f"{float(value):.12g}" for value in tensor.detach().reshape(-1))
    return f"{kind} [{shape}] {values}"


def case(name, op, arguments, reference, kind="case"):
    """`op` speaks of the arguments as %0, %1, ...; `reference` gives one tensor or a tuple. At a "bend"
    finite differences do not give the derivative; of a "value" the gradients are not compared."""
    leaves = [a.clone().requires_grad_(a.is_floating_point()) for a in arguments]
    results = reference(*leaves)
    results = results if isinstance(results, tuple) else (results,)
    cotangents = [rand(*r.shape) + 0.5 for r in results]
    total = sum((r * c).sum() for r, c in zip(results, cotangents))
    floats = [leaf for leaf in leaves if leaf.requires_grad]
    gradients = torch.autograd.grad(total, floats, allow_unused=True, materialize_grads=True)
    signature = ", ".join(f"%{i}: {type_of(a)}" for i, a in enumerate(arguments))
    types = ", ".join(type_of(r) for r in results)
    count = f":{len(results)}" if len(results) > 1 else ""
    names = ", ".join(f"%r#{i}" for i in range(len(results))) if len(results) > 1 else "%r"
    operands = ", ".join(type_of(a) for a in arguments)
    cases.append("\n".join([
        f"{kind} {name}",
        f"func.func @f({signature}) -> ({types}) {{",
        f"  %r{count} = nn.{op} : ({operands}) -> ({types})",
        f"  return {names} : {types}",
        "}",
        *[line("argument", a) for a in arguments],
        *[line("result", r) for r in results],
        *[line("cotangent", c) for c in cotangents],
        *[line("gradient", g) for g in gradients],
    ]))


def array(*values):
    return "array<i64: " + ", ".join(str(v) for v in values) + ">"


def randn(*shape):
    """Normal numbers that are short in decimal."""
    return (torch.randn(shape) * 1000).round() / 1000


def rand(*shape):
    return (torch.rand(shape) * 1000).round() / 1000


# ---- activations ----

x = torch.cat([randn(14) * 3, torch.tensor([30.0, -30.0])])
for name, op, reference in [
        ("relu", "relu %0", F.relu),
        ("gelu, erf", "gelu %0 {form = #nn<gelu_form erf>}", F.gelu),
        ("gelu, tanh", "gelu %0 {form = #nn<gelu_form tanh>}", lambda x: F.gelu(x, approximate="tanh")),
        ("silu", "silu %0", F.silu),
        ("leaky_relu", "leaky_relu %0 {alpha = 0.1}", lambda x: F.leaky_relu(x, 0.1)),
        ("elu", "elu %0 {alpha = 0.7}", lambda x: F.elu(x, 0.7)),
        ("celu", "celu %0 {alpha = 0.5}", lambda x: F.celu(x, 0.5)),
        ("selu", "selu %0 {alpha = 1.6732632423543772, gamma = 1.0507009873554805}", F.selu),
        ("hard_sigmoid", "hard_sigmoid %0 {alpha = 0.2, beta = 0.5}", lambda x: (0.2 * x + 0.5).clamp(0, 1)),
        ("hard_swish", "hard_swish %0", F.hardswish),
        ("softplus", "softplus %0", lambda x: torch.logaddexp(x, torch.zeros_like(x))),
        ("softsign", "softsign %0", F.softsign),
        ("mish", "mish %0", F.mish),
        ("thresholded_relu", "thresholded_relu %0 {alpha = 0.5}", lambda x: F.threshold(x, 0.5, 0.0)),
        ("clamp", "clamp %0 {min = -1.0, max = 0.5}", lambda x: x.clamp(-1.0, 0.5)),
        ("clamp, one end", "clamp %0 {min = -1.0, max = 0x7FF0000000000000 : f64}", lambda x: x.clamp(min=-1.0)),
]:
    case(name, op, [x], reference)
# At the bends, where a rule has to choose.
case("relu at 0", "relu %0", [torch.tensor([0.0, -0.0])], F.relu, kind="bend")
case("clamp at its ends", "clamp %0 {min = -1.0, max = 0.5}", [torch.tensor([-1.0, 0.5])], lambda x: x.clamp(-1.0, 0.5), kind="bend")
case("leaky_relu at 0", "leaky_relu %0 {alpha = 0.1}", [torch.tensor([0.0])], lambda x: F.leaky_relu(x, 0.1), kind="bend")
case("hard_swish at 3", "hard_swish %0", [torch.tensor([3.0])], F.hardswish, kind="bend")
case("prelu", "prelu %0, %1", [randn(2, 3, 2), randn(3, 1)], lambda x, s: F.prelu(x, s.reshape(-1)))

# ---- softmax ----

inf = float("inf")
case("softmax", "softmax %0 {dimension = 1 : i64}", [randn(2, 4, 3) * 3], lambda x: F.softmax(x, 1))
case("softmax, large", "softmax %0 {dimension = 1 : i64}", [torch.tensor([[1000.0, 999.0, -inf]])], lambda x: F.softmax(x, 1), kind="bend")
case("softmax, masked", "softmax %0 {dimension = 1 : i64}", [torch.tensor([[-inf, -inf], [1.0, -inf]])],
     lambda x: torch.tensor([[0.0, 0.0], [1.0, 0.0]]) + x.nan_to_num(neginf=0.0) * 0.0, kind="bend")
case("log_softmax", "log_softmax %0 {dimension = 0 : i64}", [randn(4, 3) * 3], lambda x: F.log_softmax(x, 0))

# ---- normalisation ----


def batch_norm_statistics(x, scale, bias, mean, var, momentum=0.3, unbiased=True):
    dims = [d for d in range(x.dim()) if d != 1]
    y = F.batch_norm(x, None, None, scale, bias, True, 0.0, 1e-5)
    return (y, (1 - momentum) * mean + momentum * x.mean(dims),
            (1 - momentum) * var + momentum * x.var(dims, unbiased=unbiased))


channels = [randn(3), randn(3), randn(3), rand(3) + 0.5]
for unbiased in [True, False]:
    case(f"batch_norm_training, unbiased {unbiased}",
         "batch_norm_training %0, %1, %2, %3, %4 {epsilon = 1.0e-5 : f64, momentum = 0.3, unbiased = "
         + str(unbiased).lower() + "}", [randn(2, 3, 2, 2), *channels],
         lambda *a, u=unbiased: batch_norm_statistics(*a, unbiased=u))
case("batch_norm_training, 2-d", "batch_norm_training %0, %1, %2, %3, %4 "
     "{epsilon = 1.0e-5 : f64, momentum = 0.3, unbiased = true}", [randn(4, 3), *channels], batch_norm_statistics)
case("batch_norm_inference", "batch_norm_inference %0, %1, %2, %3, %4 {epsilon = 1.0e-3 : f64}",
     [randn(2, 3, 2), *channels],
     lambda x, *vectors: (lambda scale, bias, mean, var: (x - mean) / (var + 1e-3).sqrt() * scale + bias)(
         *[v.reshape(3, 1) for v in vectors]))
case("layer_norm", "layer_norm %0 scale %1 bias %2 {axis = 1 : i64, epsilon = 1.0e-5 : f64}",
     [randn(3, 2, 4), randn(2, 4), randn(2, 4)], lambda x, s, b: F.layer_norm(x, (2, 4), s, b))
case("layer_norm, bare", "layer_norm %0 {axis = 2 : i64, epsilon = 1.0e-5 : f64}", [randn(3, 2, 4)],
     lambda x: F.layer_norm(x, (4,)))
case("layer_norm, bias", "layer_norm %0 bias %1 {axis = 1 : i64, epsilon = 1.0e-5 : f64}", [randn(3, 4), randn(4)],
     lambda x, b: F.layer_norm(x, (4,), None, b))
case("rms_norm", "rms_norm %0 scale %1 {axis = 1 : i64, epsilon = 1.0e-6 : f64}", [randn(3, 4), randn(4)],
     lambda x, s: F.rms_norm(x, (4,), s, 1e-6))
case("rms_norm, bare", "rms_norm %0 {axis = 1 : i64, epsilon = 1.0e-6 : f64}", [randn(2, 2, 3)],
     lambda x: F.rms_norm(x, (2, 3), None, 1e-6))
case("group_norm", "group_norm %0, %1, %2 {groups = 2 : i64, epsilon = 1.0e-5 : f64}",
     [randn(2, 4, 3), randn(4), randn(4)], lambda x, s, b: F.group_norm(x, 2, s, b))
case("instance_norm", "instance_norm %0, %1, %2 {epsilon = 1.0e-5 : f64}",
     [randn(2, 3, 2, 2), randn(3), randn(3)], lambda x, s, b: F.instance_norm(x, weight=s, bias=b))

# ---- linear ----

for name, a, b in [("matrices", (2, 3), (3, 4)), ("row", (3,), (2, 3, 4)), ("column", (2, 2, 3), (3,)),
                   ("dot", (3,), (3,)), ("shared right", (2, 2, 3), (3, 2)), ("batch", (2, 2, 3), (2, 3, 2)),
                   ("broadcast left", (3, 2), (2, 2, 2)), ("broadcast both", (2, 1, 2, 3), (3, 3, 2)),
                   ("one on the right", (2, 2, 2, 3), (1, 3, 2))]:
    case(f"matmul, {name}", "matmul %0, %1", [randn(*a), randn(*b)], torch.matmul)
case("linear", "linear %0, %1 bias %2 {transpose_w = true}", [randn(2, 3, 4), randn(2, 4), randn(2)], F.linear)
case("linear, plain w", "linear %0, %1 {transpose_w = false}", [randn(3, 4), randn(4, 2)], torch.matmul)

# ---- convolution ----


def geometry(**attributes):
    return "{" + ", ".join(f"{k} = {array(*v) if isinstance(v, tuple) else v}" for k, v in attributes.items()) + "}"


case("convolution", "convolution %0, %1 bias %2 " + geometry(
    strides=(2, 1), dilations=(1, 2), pad_low=(1, 0), pad_high=(0, 1), groups="2 : i64"),
    [randn(2, 4, 5, 6), randn(2, 2, 3, 2), randn(2)],
    lambda x, w, b: F.conv2d(F.pad(x, (0, 1, 1, 0)), w, b, (2, 1), 0, (1, 2), 2))
case("convolution, 1-d", "convolution %0, %1 " + geometry(
    strides=(1,), dilations=(1,), pad_low=(1,), pad_high=(1,), groups="1 : i64"),
    [randn(2, 2, 5), randn(3, 2, 3)], lambda x, w: F.conv1d(x, w, padding=1))
case("conv_transpose", "conv_transpose %0, %1 bias %2 " + geometry(
    strides=(2, 3), dilations=(1, 2), pad_low=(1, 1), pad_high=(1, 1), output_padding=(1, 0), groups="2 : i64"),
    [randn(1, 4, 3, 2), randn(4, 1, 3, 2), randn(2)],
    lambda x, w, b: F.conv_transpose2d(x, w, b, (2, 3), (1, 1), (1, 0), 2, (1, 2)))

# ---- pooling ----


def pool(window, strides, pads, dilations=(1, 1), ceil="false", **more):
    return geometry(window=window, strides=strides, dilations=dilations, pad_low=pads, pad_high=pads, ceil_mode=ceil, **more)


case("max_pool", "max_pool %0 " + pool((3, 2), (2, 1), (1, 1)), [randn(1, 2, 5, 4)],
     lambda x: F.max_pool2d(x, (3, 2), (2, 1), (1, 1)))
case("max_pool, dilated", "max_pool %0 " + pool((2, 2), (1, 2), (0, 1), (2, 2)), [randn(1, 1, 5, 6)],
     lambda x: F.max_pool2d(x, 2, (1, 2), (0, 1), 2))
case("max_pool, ceil", "max_pool %0 " + pool((2, 3), (2, 2), (0, 1), ceil="true"), [randn(1, 1, 5, 6)],
     lambda x: F.max_pool2d(x, (2, 3), 2, (0, 1), ceil_mode=True))
case("max_pool, ties", "max_pool %0 " + pool((2, 2), (2, 2), (0, 0)), [torch.ones(1, 1, 4, 4)],
     lambda x: F.max_pool2d(x, 2), kind="bend")
for count in [True, False]:
    for ceil in [True, False]:
        case(f"average_pool, count {count}, ceil {ceil}", "average_pool %0 " + pool(
            (3, 2), (2, 2), (1, 1), ceil=str(ceil).lower(), count_include_pad=str(count).lower()),
            [randn(1, 2, 6, 5)], lambda x, n=count, c=ceil: F.avg_pool2d(x, (3, 2), 2, 1, c, n))
case("average_pool, 1-d", "average_pool %0 " + geometry(
    window=(2,), strides=(2,), dilations=(1,), pad_low=(0,), pad_high=(0,), ceil_mode="false",
    count_include_pad="true"), [randn(1, 2, 6)], lambda x: F.avg_pool1d(x, 2))

# ---- losses ----

classes = torch.tensor([[1, 0, 2], [3, 3, 1]])
ignoring = torch.tensor([[1, -100, 2], [3, 3, -100]])
weight = rand(4) + 0.5


def weighted_cross_entropy(x, target, weight=None, ignore=-100, smoothing=0.0, reduction="mean"):
    """PyTorch's formula in parts, where the weight's gradient is wanted too; checked against it."""
    c = x.shape[1]
    w = torch.ones(c) if weight is None else weight
    p = F.log_softmax(x, 1)
    shape = [1, c] + [1] * (x.dim() - 2)
    if target.is_floating_point():
        q = target * (1 - smoothing) + smoothing / c
        losses, total = -(w.view(shape) * q * p).sum(1), x.numel() / c
    else:
        keep = target != ignore
        safe = torch.where(keep, target, 0)
        chosen = p.gather(1, safe.unsqueeze(1)).squeeze(1)
        losses = -(1 - smoothing) * w[safe] * chosen - smoothing / c * (w.view(shape) * p).sum(1)
        losses = torch.where(keep, losses, 0.0)
        total = torch.where(keep, w[safe], 0.0).sum()
    loss = {"none": losses, "sum": losses.sum(), "mean": losses.sum() / total}[reduction]
    expected = F.cross_entropy(x, target, None if weight is None else weight.detach(), ignore_index=ignore,
                               label_smoothing=smoothing, reduction=reduction)
    assert torch.allclose(loss, expected), (loss, expected)
    return loss


for reduction in ["none", "mean", "sum"]:
    for smoothing in [0.0, 0.1]:
        for weighted in [False, True]:
            attributes = f"{{ignore_index = -100 : i64, label_smoothing = {smoothing}, reduction = #nn<reduction {reduction}>}}"
            case(f"cross_entropy, {reduction}, smoothing {smoothing}, weighted {weighted}",
                 f"cross_entropy %0, %1 {'weight %2 ' if weighted else ''}{attributes}",
                 [randn(2, 4, 3), ignoring, weight][:3 if weighted else 2],
                 lambda x, t, w=None, s=smoothing, r=reduction: weighted_cross_entropy(x, t, w, smoothing=s, reduction=r))
case("cross_entropy, ignored class in range",
     "cross_entropy %0, %1 {ignore_index = 1 : i64, label_smoothing = 0.0, reduction = #nn<reduction mean>}",
     [randn(2, 4, 3), classes], lambda x, t: F.cross_entropy(x, t, ignore_index=1))
case("cross_entropy, no ignore_index",
     "cross_entropy %0, %1 {label_smoothing = 0.0, reduction = #nn<reduction mean>}",
     [randn(3, 4), torch.tensor([0, 3, 1])], lambda x, t: F.cross_entropy(x, t))
case("cross_entropy, no batch", "cross_entropy %0, %1 {label_smoothing = 0.0, reduction = #nn<reduction mean>}",
     [randn(4), torch.tensor(2)], lambda x, t: F.cross_entropy(x, t))
case("cross_entropy, confident", "cross_entropy %0, %1 {label_smoothing = 0.0, reduction = #nn<reduction none>}",
     [torch.tensor([[1000.0, -1000.0, 990.0]]), torch.tensor([0])], lambda x, t: F.cross_entropy(x, t, reduction="none"), kind="bend")
case("cross_entropy, all ignored",
     "cross_entropy %0, %1 {ignore_index = -100 : i64, label_smoothing = 0.0, reduction = #nn<reduction mean>}",
     [randn(2, 3), torch.tensor([-100, -100])], lambda x, t: F.cross_entropy(x, t), kind="bend")
for reduction in ["none", "mean", "sum"]:
    case(f"cross_entropy, probabilities, {reduction}",
         f"cross_entropy %0, %1 weight %2 {{label_smoothing = 0.1, reduction = #nn<reduction {reduction}>}}",
         [randn(2, 4, 3), rand(2, 4, 3), weight],
         lambda x, t, w, r=reduction: weighted_cross_entropy(x, t, w, smoothing=0.1, reduction=r))
    case(f"nll_loss, {reduction}",
         f"nll_loss %0, %1 {{ignore_index = -100 : i64, reduction = #nn<reduction {reduction}>}}",
         [-rand(2, 4, 3), ignoring], lambda x, t, r=reduction: F.nll_loss(x, t, reduction=r))
    for name, attributes, reference in [("mse_loss", "", F.mse_loss), ("l1_loss", "", F.l1_loss),
                                        ("smooth_l1_loss", "beta = 0.5, ", lambda *a, **k: F.smooth_l1_loss(*a, beta=0.5, **k)),
                                        ("huber_loss", "delta = 0.7, ", lambda *a, **k: F.huber_loss(*a, delta=0.7, **k))]:
        case(f"{name}, {reduction}", f"{name} %0, %1 {{{attributes}reduction = #nn<reduction {reduction}>}}",
             [randn(2, 3), randn(2, 3)], lambda x, t, r=reduction, f=reference: f(x, t, reduction=r))
    case(f"bce_with_logits, {reduction}",
         f"bce_with_logits %0, %1 weight %2 pos_weight %3 {{reduction = #nn<reduction {reduction}>}}",
         [randn(2, 3) * 3, rand(2, 3), rand(2, 1), rand(3) + 0.5],
         lambda x, t, w, p, r=reduction:
         {"none": lambda v: v, "mean": torch.mean, "sum": torch.sum}[r](
             w * -(p * t * F.logsigmoid(x) + (1 - t) * F.logsigmoid(-x))))
    case(f"bce, {reduction}", f"bce %0, %1 weight %2 {{reduction = #nn<reduction {reduction}>}}",
         [rand(2, 3) * 0.9 + 0.05, rand(2, 3), rand(2, 1)],
         lambda x, t, w, r=reduction: {"none": lambda v: v, "mean": torch.mean, "sum": torch.sum}[r](
             w * -(t * x.log() + (1 - t) * (1 - x).log())))
case("bce_with_logits, far out", "bce_with_logits %0, %1 {reduction = #nn<reduction none>}",
     [torch.tensor([1000.0, -1000.0, 0.0]), torch.tensor([0.0, 1.0, 0.5])],
     lambda x, t: F.binary_cross_entropy_with_logits(x, t, reduction="none"), kind="bend")
case("bce, at its ends", "bce %0, %1 {reduction = #nn<reduction none>}",
     [torch.tensor([0.0, 1.0, 0.0, 1.0]), torch.tensor([0.0, 0.0, 1.0, 1.0])],
     lambda x, t: F.binary_cross_entropy(x, t, reduction="none"), kind="value")

# ---- attention ----

attend = F.scaled_dot_product_attention
qkv = [randn(1, 2, 3, 4), randn(1, 2, 3, 4), randn(1, 2, 3, 2)]
case("attention", "attention %0, %1, %2 {scale = 0.5, causal = false}", qkv, lambda q, k, v: attend(q, k, v, scale=0.5))
case("attention, causal", "attention %0, %1, %2 {scale = 0.5, causal = true}", qkv,
     lambda q, k, v: attend(q, k, v, is_causal=True, scale=0.5))
case("attention, float mask", "attention %0, %1, %2 mask %3 {scale = 0.5, causal = false}", qkv + [randn(2, 1, 3)],
     lambda q, k, v, m: attend(q, k, v, m.expand(1, 2, 3, 3), scale=0.5))
mask = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
case("attention, bool mask", "attention %0, %1, %2 mask %3 {scale = 0.5, causal = false}", qkv + [mask],
     lambda q, k, v, m: attend(q, k, v, m, scale=0.5))
case("attention, grouped", "attention %0, %1, %2 {scale = 0.5, causal = false}",
     [randn(1, 4, 3, 2), randn(1, 2, 2, 2), randn(1, 2, 2, 3)],
     lambda q, k, v: attend(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), scale=0.5))


def rotary(interleaved, rotated):
    def reference(x, cos, sin):
        c, s = cos.reshape(-1, 1, *cos.shape[-2:]), sin.reshape(-1, 1, *sin.shape[-2:])
        r, rest = x[..., :rotated], x[..., rotated:]
        a, b = (r[..., 0::2], r[..., 1::2]) if interleaved else r.chunk(2, -1)
        y = (a * c - b * s, a * s + b * c)
        y = torch.stack(y, -1).flatten(-2) if interleaved else torch.cat(y, -1)
        return torch.cat([y, rest], -1)
    return reference


case("rotary_embedding", "rotary_embedding %0, %1, %2 {interleaved = false}",
     [randn(2, 2, 3, 4), randn(2, 3, 2), randn(2, 3, 2)], rotary(False, 4))
case("rotary_embedding, interleaved, partial", "rotary_embedding %0, %1, %2 {interleaved = true}",
     [randn(2, 2, 3, 6), randn(3, 2), randn(3, 2)], rotary(True, 4))

# ---- recurrent ----


def recurrent(kind, order, bidirectional, batch_first, **options):
    """A function of ONNX-shaped operands that runs torch.nn's cell; `order` of ONNX's gates in torch."""
    def reference(x, w, r, b, *states):
        hidden, module = r.shape[2], getattr(torch.nn, kind)
        cell = module(x.shape[2], hidden, batch_first=batch_first, bidirectional=bidirectional, **options)
        parameters = {}
        for d in range(w.shape[0]):
            def gates(value):
                parts = value.split(hidden, 0)
                return torch.cat([parts[order.index(g)] for g in range(len(order))])
            half = len(order) * hidden
            suffix = "_l0" + ("_reverse" if d else "")
            parameters.update({"weight_ih" + suffix: gates(w[d]), "weight_hh" + suffix: gates(r[d]),
                               "bias_ih" + suffix: gates(b[d][:half]), "bias_hh" + suffix: gates(b[d][half:])})
        swap = (lambda v: v.transpose(0, 1)) if batch_first else (lambda v: v)
        initial = tuple(swap(s).contiguous() for s in states)
        y, final = torch.func.functional_call(cell, parameters, (x, initial if len(initial) > 1 else initial[0]))
        final = final if isinstance(final, tuple) else (final,)
        y = y.unflatten(-1, (w.shape[0], hidden))
        y = y if batch_first else y.transpose(1, 2)
        return (y, *[swap(f) for f in final])
    return reference


def recurrent_arguments(gates, directions, states, batch_first):
    steps, batch, inputs, hidden = 3, 2, 2, 2
    state = (batch, directions, hidden) if batch_first else (directions, batch, hidden)
    return [randn(batch, steps, inputs) if batch_first else randn(steps, batch, inputs),
            randn(directions, gates * hidden, inputs), randn(directions, gates * hidden, hidden),
            randn(directions, 2 * gates * hidden)] + [randn(*state) for _ in range(states)]


for direction in ["forward", "bidirectional"]:
    for batch_first in [False, True]:
        two = direction == "bidirectional"
        common = f"direction = #nn<rnn_direction {direction}>, batch_first = {str(batch_first).lower()}"
        # Where torch's gates i, f, g, o are in ONNX's i, o, f, c; r, z, n in z, r, n.
        case(f"lstm, {direction}, batch first {batch_first}", f"lstm %0, %1, %2 b %3 h %4 c %5 {{{common}}}",
             recurrent_arguments(4, 1 + two, 2, batch_first), recurrent("LSTM", [0, 3, 1, 2], two, batch_first))
        case(f"gru, {direction}, batch first {batch_first}",
             f"gru %0, %1, %2 b %3 h %4 {{{common}, linear_before_reset = true}}",
             recurrent_arguments(3, 1 + two, 1, batch_first), recurrent("GRU", [1, 0, 2], two, batch_first))
        case(f"rnn, {direction}, batch first {batch_first}", f"rnn %0, %1, %2 b %3 h %4 {{{common}, relu = false}}",
             recurrent_arguments(1, 1 + two, 1, batch_first), recurrent("RNN", [0], two, batch_first))

# ---- resize ----


def resize(scales, mode, coordinates, nearest="floor"):
    listed = ", ".join(f"{s:.17e}" for s in scales)
    return (f"resize %0 {{scales = array<f64: {listed}>, mode = #nn<resize_mode {mode}>, coordinates = "
            f"#nn<resize_coordinates {coordinates}>, nearest = #nn<resize_nearest {nearest}>}}")


image = randn(1, 1, 3, 4)
case("resize, nearest, twice", resize((1, 1, 2, 2), "nearest", "asymmetric"), [image],
     lambda x: F.interpolate(x, scale_factor=2, mode="nearest"))
case("resize, nearest, by 1.5", resize((1, 1, 5 / 3, 1.5), "nearest", "asymmetric"), [image],
     lambda x: F.interpolate(x, size=(5, 6), mode="nearest"))
case("resize, linear", resize((1, 1, 2, 1.5), "linear", "half_pixel"), [image],
     lambda x: F.interpolate(x, size=(6, 6), mode="bilinear"))
case("resize, linear, smaller", resize((1, 1, 2 / 3, 0.5), "linear", "half_pixel"), [image],
     lambda x: F.interpolate(x, size=(2, 2), mode="bilinear"))
case("resize, linear, corners", resize((1, 1, 5 / 3, 1.5), "linear", "align_corners"), [image],
     lambda x: F.interpolate(x, size=(5, 6), mode="bilinear", align_corners=True))
case("resize, cubic", resize((1, 1, 2, 1.5), "cubic", "half_pixel"), [image],
     lambda x: F.interpolate(x, size=(6, 6), mode="bicubic"))

# ---- pooling, windows larger than the padded input ----

case("max_pool, ceil, one window", "max_pool %0 " + pool((3, 4), (2, 2), (0, 1), ceil="true"), [randn(1, 2, 2, 2)],
     lambda x: F.max_pool2d(x, (3, 4), 2, (0, 1), ceil_mode=True))
for count in [True, False]:
    case(f"average_pool, count {count}, ceil, one window", "average_pool %0 " + pool(
        (4, 3), (3, 2), (1, 0), ceil="true", count_include_pad=str(count).lower()),
        [randn(1, 2, 1, 2)], lambda x, n=count: F.avg_pool2d(x, (4, 3), (3, 2), (1, 0), True, n))

# ---- matrices ----


def dominant(*shape):
    """Matrices whose diagonals dominate and increase: eigenvectors are close to the axes."""
    a = randn(*shape) * 0.3
    rows, columns = shape[-2:]
    return ((a + torch.eye(rows, columns) * (torch.arange(columns) * 2 + 2)) * 1000).round() / 1000


def turned(vectors, dim):
    """The factors that make the greatest element of each vector along `dim` positive."""
    return vectors.gather(dim, vectors.abs().argmax(dim, keepdim=True)).sign().detach()


def eigh(a):
    values, vectors = torch.linalg.eigh(a)
    return values, vectors * turned(vectors, -2)


def svd(a):
    u, s, vh = torch.linalg.svd(a, full_matrices=False)
    # Right vectors of tall matrices, and left ones of wide ones, are those that are rotated.
    signs = turned(vh, -1) if a.shape[-2] >= a.shape[-1] else turned(u, -2).mT
    return u * signs.mT, s, vh * signs


for name, shape, complete in [("tall", (2, 4, 3), "false"), ("square", (2, 3, 3), "true"), ("wide", (2, 3, 5), "false")]:
    case(f"qr, {name}", f"qr %0 {{complete = {complete}}}", [randn(*shape)], lambda a: tuple(torch.linalg.qr(a)))
# Changed on one side of the diagonal alone a matrix is no symmetric one.
case("eigh", "eigh %0", [dominant(2, 3, 3)], eigh, kind="bend")
for name, shape in [("tall", (2, 4, 3)), ("square", (1, 3, 3)), ("wide", (2, 3, 5))]:
    case(f"svd, {name}", "svd %0 {full = false}", [dominant(*shape)], svd)

# ---- special functions ----

# Numbers of one size together: differences are those of a sum.
case("lgamma", "lgamma %0", [torch.tensor([-7.3, -2.5, -0.4, 0.01, 0.7, 1.0, 1.46, 2.3, 6.1, 12.0, 50.0])], torch.lgamma)
x = torch.tensor([-2.3, -0.6, 0.7, 1.0, 1.46, 2.3])
for order in [0, 1, 2, 5]:
    case(f"polygamma of order {order}", f"polygamma %0 {{order = {order} : i64}}", [x], lambda x, n=order: torch.polygamma(n, x))
case("zeta", "zeta %0, %1", [torch.tensor([2.0, 1.5, 3.0, 4.0, 30.0, 1.0, 0.5]), torch.tensor([0.3, 7.0, -2.7, -0.2, 2.0, 3.0, 1.0])],
     lambda s, q: torch.special.zeta(s.detach(), q), kind="value")
x = torch.tensor([-5.2, -1.1, -0.3, 0.0, 0.2, 0.9, 3.4, 11.0])
case("erfc", "erfc %0", [x], torch.erfc)
case("erfcx", "erfcx %0", [x[1:]], torch.special.erfcx)
case("log_ndtr", "log_ndtr %0", [torch.cat([x, torch.tensor([-35.0])])], torch.special.log_ndtr)
x = torch.tensor([0.001, 0.03, 0.3, 0.5, 0.86, 0.97])
case("ndtri", "ndtri %0", [x], torch.special.ndtri)
case("erfinv", "erfinv %0", [torch.cat([x, -x])], torch.erfinv)
case("entr", "entr %0", [torch.cat([x, 1 + 3 * x])], torch.special.entr)
x = torch.tensor([-4.5, -3.1, -0.2, 0.3, 1.0, 2.4, 19.9, 20.1, 40.0])
for name, scaled, reference in [("i0", "false", torch.special.i0), ("i0e", "true", torch.special.i0e), ("i1", "false", torch.special.i1), ("i1e", "true", torch.special.i1e)]:
    case(f"bessel_i, {name}", f"bessel_i %0 {{order = {name[1]} : i64, scaled = {scaled}}}", [x if scaled == "true" else x[:6]], reference)

# ---- gradients that are not of the value ----

case("straight_through", "straight_through %0, %1", [randn(2, 3), randn(2, 3)], lambda value, x: value.detach() + (x - x.detach()), kind="bend")
case("zero_dependence", "zero_dependence %0, %1", [randn(2, 3), randn(2)], lambda value, x: value + 0 * x.sum())


# ---- by mode ----

case("by_mode", "by_mode %0, %1", [randn(2, 3), randn(2, 3)], lambda training, evaluation: training + 0 * evaluation)

# ---- solutions by given factors, which have no gradient ----

a, b = randn(2, 3, 3) + torch.tensor([[0.0, 0, 3], [0, 3, 0], [3, 0, 0]]), randn(2, 3, 2)
lu, pivots = torch.linalg.lu_factor(a)
for transpose in (False, True):
    case(f"lu_solve, {'transposed' if transpose else 'plain'}", f"lu_solve %0, %1, %2, %3 {{transpose = {str(transpose).lower()}}}", [a, lu, pivots, b],
         lambda a, lu, pivots, b, t=transpose: torch.linalg.solve(a.mT if t else a, b), kind="bend")

# ---- the gradients of an attention, and theirs ----


def attention_gradients(q, k, v, dy, added, causal=False):
    shared = q.shape[1] // k.shape[1]
    scores = 0.5 * q @ k.repeat_interleave(shared, 1).mT + added
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).tril() == 0, -torch.inf)
    y = scores.softmax(-1) @ v.repeat_interleave(shared, 1)
    return torch.autograd.grad(y, (q, k, v), dy, create_graph=True)


for causal, keys, heads in ((False, 2, 2), (True, 3, 4)):
    case(f"attention_backward{', causal' if causal else ''}",
         f"attention_backward %0, %1, %2, %3 {{scale = 0.5, causal = {str(causal).lower()}}}",
         [randn(1, 4, 3, 2), randn(1, heads, keys, 2), randn(1, heads, keys, 3), randn(1, 4, 3, 3)],
         lambda q, k, v, dy, causal=causal: attention_gradients(q, k, v, dy, 0, causal))
hidden = torch.tensor([[0.0, -torch.inf], [0, 0], [-torch.inf, 0]])
case("attention_backward, bool mask", "attention_backward %0, %1, %2, %3, %4 {scale = 0.5, causal = false}",
     [randn(1, 2, 3, 2), randn(1, 1, 2, 2), randn(1, 1, 2, 3), randn(1, 2, 3, 3), hidden == 0],
     lambda q, k, v, dy, mask: attention_gradients(q, k, v, dy, hidden))

for more in ["", ", synchronized"]:  # of one process
    case("batch_norm_untracked" + more, f"batch_norm_untracked %0, %1, %2 {{epsilon = 1.0e-5 : f64{more}}}", [randn(2, 3, 2, 2), *channels[:2]],
         lambda *a: batch_norm_statistics(*a, 0, 0)[0])
case("batch_norm_training, synchronized", "batch_norm_training %0, %1, %2, %3, %4 {epsilon = 1.0e-5 : f64, momentum = 0.3, "
     "synchronized, unbiased = true}", [randn(2, 3, 2, 2), *channels], batch_norm_statistics)

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "NnGoldens.inc")
with open(path, "w") as out:
    out.write("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
              f"// Written by nn_goldens.py with PyTorch {torch.__version__}.\n"
              "// clang-format off\n")
    for text in cases:
        out.write('R"GOLDEN(' + text + '\n)GOLDEN",\n')
print(f"{len(cases)} cases, {os.path.getsize(path)} bytes")
