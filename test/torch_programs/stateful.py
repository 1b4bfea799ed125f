# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random modules with state: parameters and buffers that forward reads and writes, trained some steps and evaluated."""

import copy
import importlib.util
import random
import re
import tempfile
import pathlib

import torch
from safetensors.torch import load_file, save_file

import catalogue_state
import checking
import precision as precisions
from accc_export.training import Optimizer

STEPS = 3
OPTIMIZERS = (
    "sgd,momentum=0.9,weight_decay=0.1",
    "sgd,momentum=0.9,nesterov,weight_decay=0.05",
    "sgd,momentum=0.8,dampening=0.5",
    "adam,weight_decay=0.1",
    "adamw,weight_decay=0.1",
    "adamw,amsgrad,weight_decay=0.2",
    "sgd,weight_decay=0.1,clip_grad_norm=0.5",
)
GREATEST, ATTEMPTS = 50.0, 1000
FROM_A_FILE = (torch.jit.ScriptModule, torch.fx.GraphModule)  # of one type and one mode
TEXT = """import torch
import torch.nn.functional as F
from typing import Dict
from torch import Tensor


class Stateful(torch.nn.Module):
    __jit_ignored_attributes__ = ["inputs", "optimizer", "rate"]

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Parameter(torch.randn(4, 4))
        {init}

    def forward(self, x: Tensor, words: Tensor) -> Dict[str, Tensor]:
        x = x @ self.first
        {forward}
        loss = (x * torch.cos(torch.arange(12.0).view(3, 4) + 0.3)).sum()
        return {{"loss": loss, "y": (x * 1).detach()}}
"""


class Module:
    """Parts that a module is made of, and how it is trained."""

    def __init__(self, seed, parts, dtype, optimizer, is_training):
        self.seed, self.lines, self.dtype, self.optimizer, self.is_training = seed, parts, dtype, optimizer, is_training
        self.inputs = {}

    def source(self):
        init, forward = ("\n".join(texts).replace("\n", "\n        ") for texts in zip(*self.lines)) if self.lines else ("pass", "")
        return f"# {self.optimizer}, {'training' if self.is_training else 'evaluation'}\n" + TEXT.format(init=init or "pass", forward=forward)

    def without(self, index):
        return Module(self.seed, self.lines[:index] + self.lines[index + 1 :], self.dtype, self.optimizer, self.is_training)

    def make(self, folder):
        path = folder / "stateful_module.py"
        path.write_text(self.source())
        spec = importlib.util.spec_from_file_location(path.stem, path)
        loaded = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        torch.manual_seed(self.seed)
        module = loaded.Stateful()._apply(lambda x: x.to(self.dtype) if x.dtype == torch.float32 else x)
        module.inputs = {"x": torch.randn(3, 4).to(self.dtype), "words": torch.randint(0, 5, (3,))}
        return module if self.is_training else module.eval()

    def values(self, precision=precisions.Precision()):
        """PyTorch's results, if these are ordinary numbers; else None."""
        try:
            with tempfile.TemporaryDirectory() as folder:
                found = train(self.make(pathlib.Path(folder)), self.optimizer, precision=precision)
        except Exception:
            return None
        return found if all(bool(torch.isfinite(x).all() and x.abs().max() < GREATEST) for x in found.values() if x.is_floating_point()) else None


def generate(seed, count, dtype, lost=(), trains=False, precision=precisions.Precision()):
    """A module of a type and of so many parts, without those that have a text in them that the format loses; if `trains`, in training mode.
    PyTorch takes it in a precision, too."""
    draw = random.Random(seed)
    known = [part for part in catalogue_state.PARTS if not any(text in half for half in part for text in lost)]
    for _ in range(ATTEMPTS):
        parts = []
        for i in range(count):
            init, forward = draw.choice(known)
            number = lambda _: str(round(draw.uniform(-1, 1), 2))  # noqa: E731
            parts.append(tuple(re.sub(r"\{n\}", number, text.replace("#", str(i))) for text in (init, forward)))
        module = Module(seed, parts, dtype, draw.choice(OPTIMIZERS), draw.random() < 0.8 or trains)
        if module.values() is not None and (not precision.is_mixed or module.values(precision) is not None):
            return module
    raise RuntimeError(f"PyTorch trains none of {ATTEMPTS} modules, or gives no ordinary numbers")


def train(module, optimizer, convert=checking.as_given, inputs=None, precision=precisions.Precision(), scale=1.0):
    """Losses of all steps, results of the last, parameters and buffers after it."""
    inputs = inputs or module.inputs
    if not isinstance(module, FROM_A_FILE):
        module = copy.deepcopy(module)._apply(convert)
    inputs = {name: convert(x) for name, x in inputs.items()}
    steps = Optimizer(optimizer, 0.05, [(name, p) for name, p in module.named_parameters() if p.requires_grad])
    losses, results = [], {}
    for _ in range(STEPS):
        with precision.running():
            found = module(**inputs)
        steps.zero_grad()
        (scale * found["loss"]).backward()
        for parameter in module.parameters():
            if scale != 1 and parameter.grad is not None:
                parameter.grad /= scale
        results["y"] = found["y"].clone()
        steps.step()
        losses.append(found["loss"].detach().clone())
    results["losses"] = torch.stack(losses)
    state = dict(module.named_parameters()) | {n: x for n, x in module.named_buffers() if n in module.state_dict()}
    results |= {f"param.{n}": (torch.view_as_real(x) if x.is_complex() else x).detach().clone() for n, x in state.items()}
    if not isinstance(module, FROM_A_FILE):
        with torch.no_grad(), precision.running():
            results["evaluated"] = module.eval()(**inputs)["y"]
    return results


def check(program, format, compiler, folder):
    """The lines of what is wrong with a module in a format."""
    module = program.make(folder)
    relative = checking.rounding_of(checking.given(module))
    single, double = train(module, program.optimizer), train(module, program.optimizer, checking.in_double)
    if format == "onnx":  # which counts no batches
        single = {name: x for name, x in single.items() if not name.endswith("num_batches_tracked")}
    path, library, inputs = folder / f"model{checking.FORMATS[format]}", folder / "model.so", folder / "inputs.safetensors"
    checking.write(module, format, path)
    options = [] if format == "joint" else ["--loss", "output:loss"]
    options += [f"--input={checking.described(name, x)}" for name, x in module.inputs.items()] if format == "scripted" else []
    options += compiler.precision.options(format in checking.JOINT)
    compiler.compile(path, library, "--optimizer", f"{program.optimizer},lr=0.05", "--weights", "embed", "-q", *options)
    save_file(module.inputs, inputs)
    outputs, trained = folder / "outputs.safetensors", folder / "trained.safetensors"
    compiler.run(library, "--inputs", inputs, "--steps", STEPS, "--outputs", outputs, "--save-params", trained)
    found = load_file(outputs) | {f"param.{name}": x for name, x in load_file(trained).items()}
    if "self.training" in program.source():  # the file holds one mode
        found["evaluated"] = single["evaluated"]
    else:
        compiler.run(library, "--inputs", inputs, "--params", trained, "--entry", "eval_step", "--outputs", outputs)
        found["evaluated"] = load_file(outputs)["y"]
    missing = [name for name in single if name not in found]
    for name in missing:  # what no step changes may be a constant
        tensors = dict(module.named_parameters()) | dict(module.named_buffers())
        before = tensors.get(name.removeprefix("param."))
        if before is not None and torch.equal(before, single[name]):
            found[name] = before.detach()
    wrong = checking.compare(found, single, double, relative)
    if wrong and compiler.precision.is_mixed:
        wrong = mixed_reference(module, program.optimizer, compiler.precision, format).unexplained(wrong, found)
    if wrong and format in ("scripted", "traced") and (message := found_in_file(program, module, path, single, double, relative)):
        raise checking.NoExport(f"the file computes other numbers in PyTorch, too: {message}")
    if wrong and format in checking.PROGRAMS and (message := found_in_program(program, module, format, single, double, relative)):
        raise checking.NoExport(f"PyTorch's exported program computes other numbers in PyTorch, too: {message}")
    return [*wrong, *(f"{name} is not there" for name in missing if name not in found and name.startswith("param."))]


def mixed_reference(module, optimizer, precision, format):
    single, double = train(module, optimizer), train(module, optimizer, checking.in_double)
    rounded = train(module, optimizer, precision=precision, scale=precision.scale(format in checking.JOINT))
    return checking.MixedReference(precision, single, double, {name: x.to(single[name].dtype) for name, x in rounded.items()})


def found_in_file(program, module, path, single, double, relative):
    """Where training what the file of TorchScript holds gives other numbers than training the module: the first of them."""
    try:
        return first_difference(torch.jit.load(path), program, module, single, double, relative)
    except RuntimeError as error:  # a trace does not say where gradients stop
        return str(error)


def found_in_program(program, module, format, single, double, relative):
    """Where training what torch.export makes of the module gives other numbers than training the module: the first of them."""
    try:
        return first_difference(checking.program(module, format).module(), program, module, single, double, relative)
    except RuntimeError:  # nothing is known: a decomposed program writes parameters where gradients are recorded
        return ""


def first_difference(loaded, program, module, single, double, relative):
    found = train(loaded, program.optimizer, inputs=module.inputs)
    return next(iter(checking.compare(found, {name: single[name] for name in found if name in single}, double, relative)), "")
