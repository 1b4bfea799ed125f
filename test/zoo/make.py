# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds one model of the zoo, exports it in some formats and writes goldens.

The model's folder gets one file for each format, what an exporter said that failed in exports.json, and the goldens
that `accc diff` reads. All of it runs in a process of its own (children.py).
"""

import copy
import json
import logging
import pathlib
import traceback
import warnings

import suites
import torch
from floats import Floats
from wrapping import Model, prepare

from cases import accc_export
from compare import against_itself
from accc_export.calls import make_call
from accc_export.exporting import Export
from accc_export.goldens import GoldenRun, save_tensors
from accc_export.noise import measure, move
from safetensors.torch import load_file

torch.set_num_threads(1)  # also what lets a process be forked that has used PyTorch

SEEDS = 8
MOVED, WALK = 3, 16
MOVED_BY_ACCC, SHORT_WALK = 5, 4
STEPS = 2
RATE = 0.01
LOSS = "output:loss"


def export_program(model: Model, path: pathlib.Path) -> None:
    """The training IR as torch.export gives it."""
    torch.export.save(_program(model), path)


def export_core(model: Model, path: pathlib.Path) -> None:
    """The same in core ATen."""
    torch.export.save(_program(model).run_decompositions(), path)


def export_by_package(model: Model, path: pathlib.Path) -> None:
    """By accc_export, as ONNX or as a program of torch.export."""
    accc_export.export(model.module, model.inputs, path)


def export_joint(model: Model, path: pathlib.Path) -> None:
    """With PyTorch's own backward pass. The file says what the loss is."""
    accc_export.export_joint(model.module, model.inputs, path, loss=LOSS)


def export_traced(model: Model, path: pathlib.Path) -> None:
    """As TorchScript. A trace needs the names of forward's arguments in its signature."""
    names = list(model.inputs)
    scope = {"loss_of": type(model.module).forward}
    given = ", ".join(f"{name}={name}" for name in names)
    exec(f"def forward(self, {', '.join(names)}):\n    return loss_of(self, {given})\n", scope)
    model.module.__class__ = type("Traced", (type(model.module),), {"forward": scope["forward"]})
    before = copy.deepcopy(model.module.state_dict())
    traced = torch.jit.trace(model.module, example_kwarg_inputs=model.inputs, check_trace=False, strict=False)
    traced.load_state_dict(before, strict=False)  # tracing ran it
    torch.jit.save(traced, path)


def export_scripted(model: Model, path: pathlib.Path) -> None:
    """As TorchScript that was compiled, not traced: control flow and lists are there. Only the loss is traced."""
    model.module.model = torch.jit.script(model.module.model)
    export_traced(model, path)


FORMATS = {
    "export": ("model.pt2", export_program),
    "core": ("core.pt2", export_core),
    "onnx": ("model.onnx", export_by_package),
    "program": ("program.pt2", export_by_package),
    "traced": ("traced.pt", export_traced),
    "scripted": ("scripted.pt", export_scripted),
    "joint": ("joint.pt2", export_joint),
}


def _program(model: Model):
    program = torch.export.export(model.module, (), model.inputs)
    loss = copy.deepcopy(program).module()(**model.inputs)["loss"]
    # A torch.autograd.Function is exported as its forward pass alone, often under no_grad.
    if not loss.requires_grad:
        raise ValueError("the exported program has no gradient, also in PyTorch: a backward pass of its own is lost")
    with torch.no_grad():
        expected = copy.deepcopy(model.module)(**model.inputs)["loss"]
    is_half = any(x.dtype in (torch.bfloat16, torch.float16) for x in model.module.parameters())
    if not torch.allclose(loss, expected, **(dict(rtol=0.05, atol=0.01) if is_half else dict(rtol=1e-3, atol=1e-5))):
        raise ValueError(f"the exported program has another loss than the module, also in PyTorch: {loss.item():.4g}, {expected.item():.4g}")
    return program


def write_goldens(model: Model, folder: pathlib.Path, precision: str = "fp32", steps: int = STEPS, moved: int = MOVED) -> GoldenRun:
    """Inputs, meta.json, and what PyTorch makes of some steps in a precision, also in float64 where the module can.

    `moved` more runs start from weights moved by some units in the last place, which does to the values inside what
    another order of summation does: what differs among these runs is decided by rounding.
    """
    parameters, statistics = _trained(model)
    # What GoldenRun asks of an export is the same for all formats: names of what there is to compare.
    names = {"inputs": tuple(model.inputs), "outputs": ("loss",), "returned": ("loss",), "parameters": parameters, "frozen": ()}
    done = Export(folder, "", 0, **names, statistics=statistics, buffers=(), dims={}, random=False)
    call = make_call(model.module, model.inputs)
    run = GoldenRun(model.module, call, done, LOSS, None, "sgd", RATE, steps, precision)
    save_tensors(call.inputs, folder / "inputs.safetensors")
    half = run.write(folder, double=True, noise=False, moved=0)
    for number in range(1, moved + 1):
        module = _moved(model.module, number, WALK)
        save_tensors(run.train(module, torch.float32), folder / f"moved{number}.safetensors")
    meta = {"files": [], "loss": LOSS, "optimizer": "sgd", "lr": RATE, "steps": steps, "dims": {}}
    meta |= {"dropout": False, "torch": torch.__version__, "precision": precision, **half}
    if run.loss_scale is not None:
        meta["loss_scale"] = f"dynamic,init_scale={run.loss_scale:.17g}"
    (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n")
    return run


def write_noise(run: GoldenRun, folder: pathlib.Path) -> None:
    """Adds to meta.json what holds small gradients and updates to their own size.

    Seeds are chosen without it: runs from weights that are moved this far differ by more than rounding does.
    """
    measured = measure(run.module, load_file(folder / "golden.safetensors"), lambda x: run.train(x, torch.float32), run.precision)
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps(meta | measured, indent=2) + "\n")


def _moved(module: torch.nn.Module, number: int, walk: int) -> torch.nn.Module:
    """A copy whose weights took so many steps, each to the next float up or down; `number` tells copies apart."""
    module = copy.deepcopy(module)
    for step in range(walk):
        move(module, number * walk + step)
    return module


def write_moved_weights(suite: str, name: str, folder: pathlib.Path, floats: Floats) -> None:
    """Weights for accc to start from: nearer to the model's than those of the moved goldens, as accc itself rounds, too."""
    _be_quiet()
    model = _steady(suite, name, folder, floats)
    for number in range(1, MOVED_BY_ACCC + 1):
        state = _moved(model.module, number, SHORT_WALK if floats.are_full else 1)
        tensors = {**dict(state.named_parameters()), **dict(state.named_buffers())}
        save_tensors(tensors, folder / f"weights{number}.safetensors")


def _trained(model: Model) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parameters that the loss reaches, and the float buffers that a step moves."""
    module = copy.deepcopy(model.module)
    before = {name: x.detach().clone() for name, x in module.named_buffers()}
    torch.manual_seed(0)
    loss = module(**model.inputs)["loss"]
    loss.backward()
    after = {name: x for name, x in module.named_buffers() if x.is_floating_point()}
    # A buffer of another shape is no state, but a table that the module makes for the size of its input.
    moved = [n for n, x in after.items() if x.shape == before[n].shape and not torch.equal(before[n], x)]
    reached = [n for n, x in module.named_parameters() if x.grad is not None]
    if not reached:
        raise ValueError("no parameter has a gradient")
    if not loss.isfinite():
        raise ValueError(f"PyTorch's loss is {loss.item()}")
    torch.manual_seed(1)
    other = copy.deepcopy(model.module)(**model.inputs)["loss"]
    if not torch.equal(loss, other):
        raise ValueError(f"the model is random: its loss is {loss.item()} and {other.item()}")
    return tuple(reached), tuple(moved)


def first_line(error: BaseException) -> str:
    """The exporter's own words, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:2])}"[:400]


def _steady(
    suite: str, name: str, folder: pathlib.Path, floats: Floats = Floats(), steps: int = STEPS, moved: int = MOVED
) -> Model:
    """The model with goldens in `folder`: of some seeds, the first in whose training rounding does not decide,
    or else that in whose it decides least.

    With few values to a batch norm, or a value at the kink of a ReLU, two right implementations may differ at will.
    In 16 bits rounding decides everywhere, which the rule of comparison knows: the first seed is taken.
    """
    chosen = folder / "seed"
    if chosen.exists():
        return prepare(suites.load(suite).build(name, int(chosen.read_text())), floats.dtype)

    def attempt(seed: int) -> tuple[Model, GoldenRun, int]:
        model = prepare(suites.load(suite).build(name, seed), floats.dtype)
        run = write_goldens(model, folder, floats.precision, steps, moved if floats.are_full else 0)
        return model, run, sum(against_itself(folder))

    decided = []
    for seed in range(SEEDS):
        model, run, count = attempt(seed)
        decided.append(count)
        if count == 0:
            break
    else:
        seed = decided.index(min(decided))
        model, run, _ = attempt(seed)
    write_noise(run, folder)
    chosen.write_text(f"{seed}\n")
    return model


def make(suite: str, name: str, folder: pathlib.Path, formats: list[str], floats: Floats) -> None:
    """See above; `folder` is there."""
    _be_quiet()
    model = _steady(suite, name, folder, floats)
    done = json.loads((folder / "exports.json").read_text()) if (folder / "exports.json").exists() else {}
    for wanted in formats:
        file, export = FORMATS[wanted]
        try:
            torch.manual_seed(0)
            export(Model(copy.deepcopy(model.module), model.inputs), folder / file)
            done[wanted] = {"file": file}
        except Exception as error:  # whatever an exporter raises is its answer
            traceback.print_exc()
            done[wanted] = {"error": first_line(error)}
        (folder / "exports.json").write_text(json.dumps(done, indent=2) + "\n")


def make_real(name: str, folder: pathlib.Path) -> None:
    """A model in its published configuration: the program of torch.export, and goldens of one step."""
    _be_quiet()
    model = _steady("real", name, folder, steps=1, moved=2)
    export_program(model, folder / FORMATS["export"][0])


def _be_quiet() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
