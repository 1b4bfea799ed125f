# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the folders beside it: models that are trained in several steps, or with several optimizers, and PyTorch's own training.

    python make.py [CASE...]     (needs torch, onnxscript and safetensors)

Each case has the model as `export.pt2`, `traced.pt` and `model.onnx`, and what `accc diff` compares with: for each
training step its loss and gradients where all begins, and losses, parameters, buffers and optimizer states of some
rounds, in each of which every step is done once.
"""

import argparse
import copy
import json
import pathlib
import sys
import zipfile

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parents[2] / "python"), str(HERE.parent / "exported")]
from accc_export import export, noise  # noqa: E402
from accc_export.optimizers import Lion, Muon  # noqa: E402
from accc_export.training import WeightAverage  # noqa: E402
from make import tidy_script  # noqa: E402
from models import numbers, tidy  # noqa: E402

ROUNDS = 3


class Adversaries(nn.Module):
    """A generator and a discriminator, each with its loss (GAN). The discriminator's norm is called three times."""

    inputs = {"noise": numbers(8, 4), "real": numbers(8, 6)}
    losses = {"d": "d_loss", "g": "g_loss"}
    rate = 4e-3
    options = {
        "optimizer": ["d=adam,lr=0.004,beta1=0.5", "g=rmsprop,lr=0.001,alpha=0.9"],
        "train": [r"d=^judge\.", r"g=^make\."],
    }

    def __init__(self):
        super().__init__()
        self.make = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 6))
        self.judge = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.LeakyReLU(0.2), nn.Linear(8, 1))

    def forward(self, noise, real):
        made = self.make(noise)
        judged = F.softplus(-self.judge(real)).mean() + F.softplus(self.judge(made)).mean()
        return {"d_loss": judged, "g_loss": F.softplus(-self.judge(made)).mean(), "made": made}

    def optimizers(self):
        judge = torch.optim.Adam(self.judge.parameters(), lr=0.004, betas=(0.5, 0.999))
        return {"d": [judge], "g": [torch.optim.RMSprop(self.make.parameters(), lr=0.001, alpha=0.9)]}


class Averaged(Adversaries):
    """Weights of the generator are averaged, with a decay that warms up for two steps, and evaluated."""

    rounds = 5
    options = Adversaries.options | {"average_weights": "g=ema,decay=0.3,warmup"}

    def averages(self):
        return {"g": WeightAverage("ema,decay=0.3,warmup", ((f"make.{n}", p) for n, p in self.make.named_parameters()))}


class Grouped(nn.Module):
    """One loss; biases and norms do not decay, the head learns faster, the embedding has an optimizer of its own."""

    inputs = {"words": torch.tensor([[1, 5, 2, 2], [0, 3, 6, 1], [4, 4, 7, 5]]), "target": torch.tensor([2, 0, 1])}
    losses = {"": "loss"}
    rate = 1e-2
    options = {
        "optimizer": "adamw,lr=0.01,weight_decay=0.3,clip_grad_norm=0.5",
        "param_groups": [["^words", "sgd,lr=0.2,momentum=0.9"], ["norm|bias$", "weight_decay=0"], ["^head", "lr=0.05"]],
    }

    def __init__(self):
        super().__init__()
        self.words, self.inner = nn.Embedding(8, 6), nn.Linear(6, 6)
        self.norm, self.head = nn.LayerNorm(6), nn.Linear(6, 3)

    def forward(self, words, target):
        return {"loss": F.cross_entropy(self.head(self.norm(torch.tanh(self.inner(self.words(words))).mean(1))), target)}

    def optimizers(self):
        rest = [self.inner.bias, *self.norm.parameters(), self.head.bias]
        groups = [
            {"params": rest, "weight_decay": 0.0},
            {"params": [self.inner.weight]},
            {"params": [self.head.weight], "lr": 0.05},
        ]
        words = torch.optim.SGD([self.words.weight], lr=0.2, momentum=0.9)
        return {"": [torch.optim.AdamW(groups, lr=0.01, weight_decay=0.3), words]}

    def clip(self):
        nn.utils.clip_grad_norm_(self.parameters(), 0.5)


class Assorted(nn.Module):
    """An optimizer for each layer; matrices that are tall, wide, and two of one shape, a filter, and biases."""

    inputs = {"words": torch.tensor([[1, 5, 2, 2], [0, 3, 6, 1], [4, 4, 7, 5]]), "target": torch.tensor([2, 0, 1])}
    losses = {"": "loss"}
    rate = 1e-2
    rounds = 8  # radam divides by square roots from the sixth step on
    options = {
        "optimizer": "muon,lr=0.01",
        "param_groups": [
            ["^words", "lion,lr=0.01,weight_decay=0.1"],
            ["^inner.bias", "radam,lr=0.02"],
            ["^wide.bias", "nadam,lr=0.02"],
            ["^tall.bias", "nadam,lr=0.01,beta1=0.5,momentum_decay=0.5"],
            ["^head.bias", "adadelta,lr=2"],
            ["^filter", "adafactor,lr=0.5"],  # from the fifth step on its rate falls
            ["^norm", "adamax,lr=0.03"],
            ["^head.weight", "muon,lr=0.02,match_rms_adamw"],
        ],
    }

    def __init__(self):
        super().__init__()
        self.words, self.filter = nn.Embedding(8, 6), nn.Conv1d(6, 6, 3, padding=1)
        self.inner, self.wide, self.tall = nn.Linear(6, 6), nn.Linear(6, 9), nn.Linear(9, 5)
        self.second = nn.Linear(6, 6, bias=False)
        self.norm, self.head = nn.LayerNorm(5), nn.Linear(5, 3)

    def forward(self, words, target):
        x = self.filter(self.words(words).mT).mT
        x = torch.tanh(self.second(torch.tanh(self.inner(x))))
        x = self.norm(self.tall(torch.tanh(self.wide(x))))
        return {"loss": F.cross_entropy(self.head(x.mean(1)), target)}

    def optimizers(self):
        optim = torch.optim
        return {
            "": [
                Muon([self.inner.weight, self.second.weight, self.wide.weight, self.tall.weight], lr=0.01),
                Muon([self.head.weight], lr=0.02, match_rms_adamw=True),
                Lion([self.words.weight], lr=0.01, weight_decay=0.1),
                optim.RAdam([self.inner.bias], lr=0.02),
                optim.NAdam([self.wide.bias], lr=0.02),
                optim.NAdam([self.tall.bias], lr=0.01, betas=(0.5, 0.999), momentum_decay=0.5),
                optim.Adadelta([self.head.bias], lr=2),
                optim.Adafactor(self.filter.parameters(), lr=0.5, eps=(torch.finfo(torch.float32).eps, 1e-3)),
                optim.Adamax(self.norm.parameters(), lr=0.03),
            ]
        }


CASES = {"adversaries": Adversaries, "averaged": Averaged, "grouped": Grouped, "assorted": Assorted}

SLOTS = {"momentum_buffer", "exp_avg", "exp_avg_sq", "exp_inf", "square_avg", "acc_delta", "row_var", "col_var", "variance"}


def entry(kind, step):
    return f"{kind}.{step}" if step else kind


def rounds(model):
    return getattr(model, "rounds", ROUNDS)


def first(model, inputs):
    """What each step gives at the first parameters."""
    results = {}
    for step, loss in model.losses.items():
        own = copy.deepcopy(model)
        prefix = f"grad_step.{step} " if step else ""
        found = own(**inputs)
        found[loss].backward()
        results[f"{prefix}loss"] = found[loss].detach()
        results |= {prefix + n: x.detach() for n, x in found.items() if n not in model.losses.values()}
        trained = {p for o in own.optimizers()[step] for g in o.param_groups for p in g["params"]}
        # The parameters of the copy's optimizers are its own.
        names = {n: p for n, p in own.named_parameters() if p in trained}
        results |= {f"{prefix}grad.{n}": p.grad for n, p in names.items()}
    return results


def train(model, dtype):
    model = copy.deepcopy(model).to(dtype)
    inputs = {n: x.to(dtype) if x.is_floating_point() else x for n, x in model.inputs.items()}
    results = first(model, inputs)
    optimizers, losses = model.optimizers(), {step: [] for step in model.losses}
    averages = model.averages() if hasattr(model, "averages") else {}
    for _ in range(rounds(model)):
        for step, loss in model.losses.items():
            found = model(**inputs)[loss]
            model.zero_grad()
            found.backward()
            if hasattr(model, "clip"):
                model.clip()
            for optimizer in optimizers[step]:
                optimizer.step()
            if step in averages:
                averages[step].update()
            losses[step].append(found.detach())
    results |= {entry("losses", step): torch.stack(values) for step, values in losses.items()}
    results |= {f"param.{n}": x.detach() for n, x in model.state_dict().items() if x.is_floating_point()}
    names = {p: n for n, p in model.named_parameters()}
    for step, several in optimizers.items():
        for optimizer in several:
            for p, state in optimizer.state.items():
                prefix = f"state.{entry('optimizer', step)}"
                results |= {f"{prefix}.{slot}.{names[p]}": x for slot, x in state.items() if slot in SLOTS}
    for step, average in averages.items():
        results |= {f"state.{entry('optimizer', step)}.ema.{n}": x for n, x in average.averages.items()}
    return {name: x.float().contiguous().clone() for name, x in results.items()}


def make(case):
    torch.manual_seed(0)
    model = CASES[case]().train()
    folder = HERE / case
    folder.mkdir(exist_ok=True)
    torch.export.save(torch.export.export(model, (), kwargs=model.inputs), folder / "export.pt2")
    tidy(folder / "export.pt2", zipfile.ZIP_DEFLATED)
    names = list(copy.deepcopy(model)(**model.inputs))
    export(copy.deepcopy(model), model.inputs, folder / "model.onnx", exporter="dynamo-folded", output_names=names)
    before = copy.deepcopy(model.state_dict())
    traced = torch.jit.trace(copy.deepcopy(model), example_kwarg_inputs=model.inputs, check_trace=False, strict=False)
    traced.load_state_dict(before)  # tracing ran it
    torch.jit.save(traced, folder / "traced.pt")
    tidy_script(folder / "traced.pt")
    save_file(model.inputs, folder / "inputs.safetensors")
    golden = train(model, torch.float32)
    save_file(golden, folder / "golden.safetensors")
    save_file(train(model, torch.float64), folder / "golden64.safetensors")
    losses = [f"{step}=output:{loss}" if step else f"output:{loss}" for step, loss in model.losses.items()]
    meta = {"files": [], "loss": losses, "lr": model.rate, "steps": rounds(model), "dims": {}, "dropout": False}
    meta |= model.options | {"torch": torch.__version__}
    meta |= noise.measure(model, golden, lambda m: train(m, torch.float32))
    (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", default=[], metavar="CASE")
    for case in parser.parse_args().cases or CASES:
        make(case)
        print(case)


if __name__ == "__main__":
    main()
