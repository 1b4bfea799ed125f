# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the folders beside it: ONNX models that hold a training step of their own (training_info), with what PyTorch
and ONNX's formulas give for the same steps.

    python make.py [CASE...]     (needs onnx, torch and safetensors)
"""

import argparse
import json
import pathlib

import onnx
import torch
from onnx import helper, numpy_helper, parser
from safetensors.torch import save_file
from torch.nn import functional as F

HERE = pathlib.Path(__file__).parent
TRAINING = "ai.onnx.preview.training"
STEPS = 4


def numbers(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


class Case:
    """A model as the texts of its graphs, the state of its initializers, and the step that these describe."""

    inputs = {}
    state = {}  # of the model's graph
    training_state = {}  # of the algorithm
    initialization, initial = "g () => () {}", {}
    updates = {}

    def step(self, s):
        """The loss (or None) and the new state; `s` has inputs and state."""
        raise NotImplementedError

    def evaluate(self, s):
        """The outputs of the model's graph."""
        raise NotImplementedError


def momentum(r, t, x, g, v, alpha, beta, norm, nesterov=False):
    g = norm * x + g
    v = alpha * v + (beta if t > 0 else 1) * g
    return x - r * (g + alpha * v if nesterov else v), v


def adam(r, t, x, g, v, h, alpha=0.9, beta=0.999, norm=0.0, post=0.0, epsilon=1e-6):
    g = norm * x + g
    v = alpha * v + (1 - alpha) * g
    h = beta * h + (1 - beta) * g * g
    if t > 0:
        r = r * (1 - beta ** t.double()) ** 0.5 / (1 - alpha ** t.double())
    return (1 - post) * (x - r.to(x) * v / (h.sqrt() + epsilon)), v, h


def adagrad(r, t, x, g, h, decay=0.0, norm=0.0, epsilon=1e-6):
    g = norm * x + g
    h = h + g * g
    return x - r / (1 + t * decay) * g / (h.sqrt() + epsilon), h


class Linear(Case):
    """Least squares by momentum, with a count of steps; the learning rate is an initializer."""

    inputs = {"x": numbers(1, 4, 3), "target": numbers(2, 4, 2)}
    state = {"W": numbers(3, 3, 2)}
    training_state = {"R": torch.tensor(0.1), "T": torch.tensor(0), "V": torch.zeros(3, 2), "one": torch.tensor(1)}
    graph = "g (float[batch, 3] x) => (float[batch, 2] y) { y = MatMul(x, W) }"
    algorithm = """a (float[batch, 2] target) => (float error, float[3, 2] W_new, float[3, 2] V_new, int64 T_new) {
        d = Sub(y, target)
        square = Mul(d, d)
        error = ReduceMean <keepdims = 0> (square)
        dW = D.Gradient <xs = ["W"], zs = ["x", "target"], y = "error"> (W, x, target)
        W_new, V_new = D.Momentum <alpha = 0.9, beta = 0.7, mode = "standard", norm_coefficient = 0.01> (R, T, W, dW, V)
        T_new = Add(T, one)
    }"""
    updates = {"W": "W_new", "V": "V_new", "T": "T_new"}
    dims = {"batch": 4}

    def step(self, s):
        loss = ((s["x"] @ s["W"] - s["target"]) ** 2).mean()
        (g,) = torch.autograd.grad(loss, [s["W"]])
        w, v = momentum(s["R"], s["T"], s["W"], g, s["V"], 0.9, 0.7, 0.01)
        return loss, {"W": w, "V": v, "T": s["T"] + 1}

    def evaluate(self, s):
        y = s["x"] @ s["W"]
        return {"y": y, "loss": ((y - s["target"]) ** 2).mean()}


WEIGHTS = {"w1": numbers(4, 6, 8), "b1": numbers(5, 8), "w2": numbers(6, 8, 4)}


class Classifier(Case):
    """Two layers by Adam, all in one node; the learning rate is an input, a third layer is not trained."""

    inputs = {"x": numbers(1, 5, 6), "labels": torch.tensor([0, 2, 1, 3, 2]), "rate": torch.tensor(0.02)}
    state = {"fixed": numbers(3, 6, 6)} | WEIGHTS
    training_state = {f"{m}_{name}": torch.zeros_like(w) for m in ("m", "v") for name, w in WEIGHTS.items()}
    training_state |= {"T": torch.tensor(0), "one": torch.tensor(1)}
    graph = """g (float[5, 6] x) => (float[5, 4] logits) {
        f = MatMul(x, fixed)
        h = Gemm(f, w1, b1)
        a = Tanh(h)
        logits = MatMul(a, w2)
    }"""
    algorithm = """a (int64[5] labels, float rate) => (float loss, float[8, 4] w2_gradient, float[6, 8] w1_new,
            float[8] b1_new, float[8, 4] w2_new, float[6, 8] m_w1_new, float[8] m_b1_new, float[8, 4] m_w2_new,
            float[6, 8] v_w1_new, float[8] v_b1_new, float[8, 4] v_w2_new, int64 T_new) {
        loss = SoftmaxCrossEntropyLoss(logits, labels)
        dw1, db1, w2_gradient = D.Gradient <xs = ["w1", "b1", "w2"], zs = ["x"], y = "loss"> (w1, b1, w2, x)
        T_new = Add(T, one)
        w1_new, b1_new, w2_new, m_w1_new, m_b1_new, m_w2_new, v_w1_new, v_b1_new, v_w2_new = D.Adam
            <alpha = 0.9, beta = 0.99, norm_coefficient = 0.01, norm_coefficient_post = 0.001, epsilon = 0.0001>
            (rate, T_new, w1, b1, w2, dw1, db1, w2_gradient, m_w1, m_b1, m_w2, v_w1, v_b1, v_w2)
    }"""
    updates = {name: f"{name}_new" for name in ("w1", "b1", "w2", "T", "m_w1", "m_b1", "m_w2", "v_w1", "v_b1", "v_w2")}

    def logits(self, s):
        return torch.tanh(s["x"] @ s["fixed"] @ s["w1"] + s["b1"]) @ s["w2"]

    def step(self, s):
        loss, names = F.cross_entropy(self.logits(s), s["labels"]), ("w1", "b1", "w2")
        new = {"T": s["T"] + 1}
        for name, g in zip(names, torch.autograd.grad(loss, [s[name] for name in names])):
            m, v = f"m_{name}", f"v_{name}"
            new[name], new[m], new[v] = adam(s["rate"], new["T"], s[name], g, s[m], s[v], 0.9, 0.99, 0.01, 0.001, 1e-4)
        return loss, new

    def evaluate(self, s):
        return {"logits": self.logits(s), "loss": F.cross_entropy(self.logits(s), s["labels"])}


class Normalized(Case):
    """A batch normalisation, whose statistics the model binds itself, and Adagrad."""

    inputs = {"x": numbers(1, 6, 3, 4), "target": numbers(2, 6, 3)}
    state = {"scale": numbers(3, 3), "bias": numbers(4, 3), "mean": numbers(5, 3), "var": numbers(6, 3).abs() + 0.5}
    training_state = {"R": torch.tensor(0.3), "T": torch.tensor(0), "one": torch.tensor(1),
                      "h_scale": torch.zeros(3), "h_bias": torch.zeros(3)}
    graph = """g (float[6, 3, 4] x) => (float[6, 3] y) {
        n, mean_new, var_new = BatchNormalization <training_mode = 1, momentum = 0.8> (x, scale, bias, mean, var)
        p = Softplus(n)
        y = ReduceMean <axes = [2], keepdims = 0> (p)
    }"""
    algorithm = """a (float[6, 3] target) => (float loss, float[3] mean_out, float[3] var_out, float[3] s, float[3] b,
            float[3] h_s, float[3] h_b, int64 T_new) {
        d = Sub(y, target)
        size = Abs(d)
        loss = ReduceSum <keepdims = 0> (size)
        ds, db = D.Gradient <xs = ["scale", "bias"], zs = ["x"], y = "loss"> (scale, bias, x)
        s, b, h_s, h_b = D.Adagrad <decay_factor = 0.1, norm_coefficient = 0.01, epsilon = 0.001>
            (R, T, scale, bias, ds, db, h_scale, h_bias)
        mean_out = Identity(mean_new)
        var_out = Identity(var_new)
        T_new = Add(T, one)
    }"""
    updates = {"scale": "s", "bias": "b", "h_scale": "h_s", "h_bias": "h_b", "T": "T_new",
               "mean": "mean_out", "var": "var_out"}

    def forward(self, s, mean, var):
        n = (s["x"] - mean[:, None]) / (var[:, None] + 1e-5).sqrt() * s["scale"][:, None] + s["bias"][:, None]
        return F.softplus(n).mean(2)

    def step(self, s):
        mean, var = s["x"].mean((0, 2)), s["x"].var((0, 2), unbiased=False)
        loss = (self.forward(s, mean, var) - s["target"]).abs().sum()
        new = {"mean": 0.8 * s["mean"] + 0.2 * mean, "var": 0.8 * s["var"] + 0.2 * var, "T": s["T"] + 1}
        for name, g in zip(("scale", "bias"), torch.autograd.grad(loss, [s["scale"], s["bias"]])):
            new[name], new[f"h_{name}"] = adagrad(s["R"], s["T"], s[name], g, s[f"h_{name}"], 0.1, 0.01, 1e-3)
        return loss, new

    def evaluate(self, s):
        y = self.forward(s, s["mean"], s["var"])
        return {"y": y, "loss": (y - s["target"]).abs().sum()}


class Penalty(Case):
    """The loss holds the square of a gradient with respect to the input: derivatives of second order."""

    inputs = {"x": numbers(1, 5, 3)}
    state = {"w1": numbers(2, 3, 4), "w2": numbers(3, 4, 1)}
    training_state = {"R": torch.tensor(0.05), "T": torch.tensor(3), "v1": numbers(4, 3, 4), "v2": numbers(5, 4, 1)}
    graph = "g (float[5, 3] x) => (float[5, 1] y) { h = MatMul(x, w1) a = Elu(h) y = MatMul(a, w2) }"
    algorithm = """a () => (float total, float penalty, float[3, 4] w1_new, float[4, 1] w2_new, float[3, 4] v1_new,
            float[4, 1] v2_new) {
        score = ReduceMean <keepdims = 0> (y)
        dx = D.Gradient <xs = ["x"], zs = ["w1", "w2"], y = "score"> (x, w1, w2)
        square = Mul(dx, dx)
        penalty = ReduceSum <keepdims = 0> (square)
        total = Add(score, penalty)
        dw1, dw2 = D.Gradient <xs = ["w1", "w2"], zs = ["x"], y = "total"> (w1, w2, x)
        w1_new, w2_new, v1_new, v2_new = D.Momentum
            <alpha = 0.5, beta = 0.9, mode = "nesterov", norm_coefficient = 0.0> (R, T, w1, w2, dw1, dw2, v1, v2)
    }"""
    updates = {"w1": "w1_new", "w2": "w2_new", "v1": "v1_new", "v2": "v2_new"}

    def step(self, s):
        x = s["x"].clone().requires_grad_()
        score = (F.elu(x @ s["w1"]) @ s["w2"]).mean()
        (dx,) = torch.autograd.grad(score, [x], create_graph=True)
        gradients = torch.autograd.grad(score + (dx * dx).sum(), [s["w1"], s["w2"]])
        new = {}
        for i, g in zip("12", gradients):
            w, v = f"w{i}", f"v{i}"
            new[w], new[v] = momentum(s["R"], s["T"], s[w], g, s[v], 0.5, 0.9, 0.0, nesterov=True)
        return None, new  # `total` and `penalty` could both be it

    def evaluate(self, s):
        return {"y": F.elu(s["x"] @ s["w1"]) @ s["w2"]}


class Assigned(Case):
    """Initial values that are computed, and state that is assigned: exchanged, averaged, only written, read before."""

    inputs = {"x": numbers(1, 3)}
    state = {"w": torch.zeros(3), "left": numbers(2, 3), "right": numbers(3, 3)}
    training_state = {"average": torch.ones(3), "last": torch.zeros([]), "steps": torch.tensor(7), "one": torch.tensor(1)}
    graph = "g (float[3] x) => (float[3] y) { p = Mul(x, w) q = Add(p, left) y = Sub(q, right) }"
    initialization = """i () => (float[3] w_start, float[3] mean_start, int64 steps_start) {
        a = Constant <value = float[3] {1, 2, 3}> ()
        w_start = Sin(a)
        mean_start = Sqrt(a)
        steps_start = Constant <value = int64 {100}> ()
    }"""
    initial = {"w": "w_start", "average": "mean_start", "steps": "steps_start"}
    algorithm = """a () => (float loss, float[3] w_new, float[3] averaged, int64 steps_new, float loss_kept,
            float[3] left_new, float[3] right_new) {
        square = Mul(y, y)
        loss = ReduceSum <keepdims = 0> (square)
        dw = D.Gradient <xs = ["w"], y = "loss"> (w)
        tenth = Constant <value = float {0.1}> ()
        change = Mul(dw, tenth)
        w_new = Sub(w, change)
        difference = Sub(w_new, average)
        part = Mul(difference, tenth)
        averaged = Add(average, part)
        steps_new = Add(steps, one)
        loss_kept = Identity(loss)
        left_new = Identity(right)
        right_new = Identity(left)
    }"""
    updates = {"w": "w_new", "average": "averaged", "steps": "steps_new", "last": "loss_kept",
               "left": "left_new", "right": "right_new"}

    def start(self):
        a = torch.tensor([1.0, 2, 3], dtype=torch.float64)
        return {"w": a.sin(), "average": a.sqrt(), "steps": torch.tensor(100)}

    def step(self, s):
        loss = ((s["x"] * s["w"] + s["left"] - s["right"]) ** 2).sum()
        (g,) = torch.autograd.grad(loss, [s["w"]])
        w = s["w"] - 0.1 * g
        return loss, {"w": w, "average": s["average"] + 0.1 * (w - s["average"]), "steps": s["steps"] + 1,
                      "last": loss, "left": s["right"], "right": s["left"]}

    def evaluate(self, s):
        y = s["x"] * s["w"] + s["left"] - s["right"]
        return {"y": y, "loss": (y * y).sum()}


CASES = {case.__name__.lower(): case for case in (Linear, Classifier, Normalized, Penalty, Assigned)}


def graph_of(text, state):
    graph = parser.parse_graph(text.replace("D.", TRAINING + "."))
    for name, value in state.items():
        graph.initializer.append(numpy_helper.from_array(value.numpy(), name))
    return graph


def model_of(case):
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(TRAINING, 1)]
    model = helper.make_model(graph_of(case.graph, case.state), opset_imports=opsets, ir_version=8)
    training = model.training_info.add()
    training.algorithm.CopyFrom(graph_of(case.algorithm, case.training_state))
    training.initialization.CopyFrom(graph_of(case.initialization, {}))
    for bindings, entries in ((training.update_binding, case.updates), (training.initialization_binding, case.initial)):
        for key, value in entries.items():
            bindings.add(key=key, value=value)
    return model


def train(case, dtype):
    cast = lambda tensors: {n: x.to(dtype) if x.is_floating_point() else x for n, x in tensors.items()}
    inputs, state = cast(case.inputs), cast(case.state | case.training_state)
    state |= cast(case.start()) if case.initial else {}
    results, losses = case.evaluate(inputs | state), []
    for _ in range(STEPS):
        known = {n: x.requires_grad_() if x.is_floating_point() else x for n, x in state.items()}
        loss, new = case.step(inputs | known)
        state = {n: x.detach().clone() for n, x in (state | new).items()}
        losses += [] if loss is None else [loss.detach()]
    if losses:
        results["losses"] = torch.stack(losses)
    constants = {n for n, x in (case.state | case.training_state).items() if n not in case.updates and not x.is_floating_point()}
    results |= {f"param.{n}": x for n, x in state.items() if n not in constants}
    return {n: (x.detach().float() if x.is_floating_point() else x).contiguous() for n, x in results.items()}


def make(name):
    case, folder = CASES[name](), HERE / name
    folder.mkdir(exist_ok=True)
    onnx.save(model_of(case), folder / "model.onnx")
    save_file(case.inputs, folder / "inputs.safetensors")
    save_file(train(case, torch.float32), folder / "golden.safetensors")
    save_file(train(case, torch.float64), folder / "golden64.safetensors")
    meta = {"loss": "", "optimizer": "", "steps": STEPS, "dims": getattr(case, "dims", {}), "torch": torch.__version__}
    (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("cases", nargs="*", metavar="CASE")
    for name in arguments.parse_args().cases or CASES:
        make(name)
        print(name)


if __name__ == "__main__":
    main()
