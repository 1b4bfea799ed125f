# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a program of torch.export computes what its module does: outputs, buffers and gradients, by a run of both in PyTorch."""

import dataclasses
from collections.abc import Callable, Mapping

import torch
from torch.export.graph_signature import InputKind, OutputKind

from .bodies import BodiesMode
from .calls import Call, copies
from .errors import ExportError
from .failures import first_lines
from .functions import TOLERANCE, differing, gradients, is_close
from .modules import State, preserved_buffers, preserved_values, without_hooks
from .noise import move, unsettle
from .observing import Observation
from .programs import program_of
from .training import Loss

Tensors = dict[str, torch.Tensor]

_RECORDED = ", or write what autograd runs: export_joint()"
_FOR_ONNX = ", and give the file a name that ends in .pt2: ONNX has no detach()" + _RECORDED
"""What else may be done about a gradient that is lost."""


@dataclasses.dataclass
class _Run:
    """One forward and backward pass: what it gave, left in the buffers and in parameters that it wrote, and which random numbers come next."""

    outputs: Tensors
    buffers: Tensors
    gradients: Tensors
    drawn: torch.Tensor


def check_program(
    module: torch.nn.Module, call: Call, state: State, observation: Observation, outputs: list[str], program: torch.export.ExportedProgram
) -> None:
    """Raises ExportError where the program computes something else than the module, which may ask whether it is exported,
    leaves something else in its buffers, or has other gradients. To be called within `preserved`."""
    expected = _Module(module, call, state, observation, outputs)
    found = _run_program(program, call, state, observation, outputs)
    _compare(expected, found, observation, "torch.export's program", _RECORDED)
    if observation.functions or observation.hooks:
        _compare_elsewhere(expected, program, "torch.export's program", _RECORDED)


def check_joint(
    module: torch.nn.Module,
    call: Call,
    state: State,
    observation: Observation,
    outputs: list[str],
    loss: Loss,
    target: torch.Tensor | None,
    program: torch.export.ExportedProgram,
) -> None:
    """Raises ExportError where a joint graph computes something else than the module, its loss, and its gradients in PyTorch.
    To be called within `preserved`."""
    expected = _Module(module, call, state, observation, outputs, loss, target)
    found = _run_joint(program, call, target, state, list(expected.run().outputs))
    if lost := sorted(observation.written - set(found.buffers)):
        raise ExportError(f"the joint graph loses what forward writes into the parameter {lost[0]}")
    _compare(expected, found, observation, "the joint graph")


def check_gradients(
    module: torch.nn.Module, call: Call, state: State, observation: Observation, outputs: list[str], more: str = _FOR_ONNX
) -> None:
    """Raises ExportError where an export by way of a program of torch.export, to ONNX or as a joint graph, loses a gradient of the
    module's own functions and hooks; `more` is what else to do then. To be called within `preserved`."""
    if not observation.functions and not observation.hooks:
        return
    program = program_of(module, call, observation, call.inputs, outputs, {})
    expected = _Module(module, call, state, observation, outputs)
    found = _run_program(program, call, state, observation, outputs)
    _compare_gradients(expected, found, observation, "the exported program", more)
    _compare_elsewhere(expected, program, "the exported program", more)


class _Module:
    """Runs of the module: of all outputs, or of a loss as well."""

    def __init__(self, module, call, state, observation, outputs, loss: Loss | None = None, target=None) -> None:
        self.module, self.call, self.state, self.observation = module, call, state, observation
        self.outputs, self.loss, self.target = outputs, loss, target
        self._run = None

    def run(self) -> _Run:
        if self._run is None:
            self._run = self.once(1)
        return self._run

    def moved(self, seed: int, scale: float = 1) -> Tensors:
        """The gradients of the module whose every weight is moved to the next float."""
        with preserved_values(self.state.parameters.values()):
            move(self.module, seed)
            return self.once(scale).gradients

    def once(self, scale: float) -> _Run:
        """With the parameters that the module has now, and gradients of so many times what it returns."""
        return _run(
            self._named, self.module, self.state.parameters, self.state, self.observation, lambda *found: self._differentiate(*found, scale)
        )

    def _named(self) -> Tensors:
        found = dict(zip(self.outputs, self.call.run(self.module).values()))
        return found if self.loss is None else {"loss": self.loss(found, self.target), **_others(found)}

    def _differentiate(self, found: Tensors, parameters: Tensors, scale: float) -> Tensors:
        return gradients(found.values() if self.loss is None else [found["loss"]], parameters, scale)


def _others(outputs: Tensors) -> Tensors:
    return {name: x for name, x in outputs.items() if name != "loss"}


def _run(
    called: Callable[[], Tensors],
    holder: torch.nn.Module,
    parameters: Mapping[str, torch.Tensor],
    state: State,
    observation: Observation,
    differentiate: Callable[[Tensors, Tensors], Tensors],
) -> _Run:
    written = {name: state.parameters[name] for name in observation.written}
    with preserved_buffers(holder), preserved_values(written.values()), torch.enable_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        found = called()
        drawn = torch.get_rng_state()
        buffers = {name: x for name, x in holder.named_buffers() if name in state.buffers}
        return _Run(
            outputs={name: x.detach() for name, x in found.items()},
            buffers={name: x.detach().clone() for name, x in (buffers | written).items()},
            gradients=differentiate(found, {name: x for name, x in parameters.items() if x.requires_grad}),
            drawn=drawn,
        )


def _run_program(program, call: Call, state: State, observation: Observation, outputs: list[str], scale: float = 1) -> _Run:
    exported = program.module()

    def called():
        return dict(zip(outputs, exported(*copies(call.inputs.values())).values()))

    def differentiate(found, parameters):
        return gradients(found.values(), parameters, scale)

    try:
        with without_hooks(state.parameters.values()):  # which the program shares
            return _run(called, exported, dict(exported.named_parameters()), state, observation, differentiate)
    except RuntimeError as error:  # it may write into what the derivative needs, where a backward pass of its own did not
        text = f"PyTorch finds no gradient of the exported program, where export_joint() may write what autograd runs: {first_lines(error)}"
        raise ExportError(text) from error


def _run_joint(program, call: Call, target: torch.Tensor | None, state: State, outputs: list[str]) -> _Run:
    held = {**program.state_dict, **program.constants}
    given = iter(copies(call.inputs.values() if target is None else (*call.inputs.values(), target)))
    specs = program.graph_signature
    args = [next(given) if spec.kind is InputKind.USER_INPUT else held[spec.target] for spec in specs.input_specs]
    with torch.no_grad(), torch.random.fork_rng(devices=[]), _WithoutStrides():
        torch.manual_seed(0)
        results = program.graph_module(*args)
        drawn = torch.get_rng_state()
    first = state.first_names()

    def named(kind):
        return {first[spec.target]: x for spec, x in zip(specs.output_specs, results) if spec.kind is kind}

    returned = [x for spec, x in zip(specs.output_specs, results) if spec.kind in (OutputKind.LOSS_OUTPUT, OutputKind.USER_OUTPUT)]
    return _Run(
        outputs=dict(zip(outputs, returned)),
        buffers={**state.buffers, **named(OutputKind.BUFFER_MUTATION), **named(OutputKind.PARAMETER_MUTATION)},
        gradients=named(OutputKind.GRADIENT_TO_PARAMETER),
        drawn=drawn,
    )


class _WithoutStrides(BodiesMode):
    """A view is a reshape. Kernels give results other strides than those that PyTorch traced the graph with, whose views
    need not exist then. To the graph, in which nothing is written in place, that makes no difference."""

    def operator(self, function, args, kwargs):
        called = torch.ops.aten.reshape.default if function is torch.ops.aten.view.default else function
        return called(*args, **kwargs)


def _compare(module: _Module, found: _Run, observation: Observation, what: str, more: str = "") -> None:
    """A module that draws random numbers is compared where its program draws the same ones."""
    expected = module.run()
    wrong = differing_values(expected.outputs, found.outputs)
    if observation.drawn and (wrong or not torch.equal(expected.drawn, found.drawn)):
        return
    if wrong:
        raise ExportError(
            f"{what} computes other values than the module, also in PyTorch: {', '.join(wrong[:20])}. "
            "The module may take another branch while it is exported (torch.compiler.is_exporting())"
        )
    if wrong := differing_values(expected.buffers, found.buffers):
        raise ExportError(
            f"{what} leaves other values in buffers than the module, also in PyTorch: {', '.join(wrong[:20])}. "
            "It loses a tensor that forward sets for a buffer of a part (self.mean = ...): write into the buffer (self.mean.copy_(...)), "
            "or, where forward sets it the first time alone, call the module once before"
        )
    _compare_gradients(module, found, observation, what, more)


def _compare_gradients(module: _Module, found: _Run, observation: Observation, what: str, more: str = "") -> None:
    """Where gradients differ by more than rounding decides, which a run from moved weights shows."""
    expected = module.run().gradients
    if not differing(expected, found.gradients):
        return
    listed = differing(expected, found.gradients, [module.moved(seed) for seed in (1, 2)])
    if listed:
        raise ExportError(_lost(observation, what, listed, more))


_ELSEWHERE = ((1, 1e3), (-1, 1e-3), (8, 1), (0.125, 1))
"""Factors of the parameters, and of the gradient that arrives."""


def _compare_elsewhere(module: _Module, program: torch.export.ExportedProgram, what: str, more: str) -> None:
    """The same with other parameters, and with greater and smaller gradients: a function that clamps numbers and passes gradients on, or that
    clips gradients, differs from what an export keeps of it only where there is something to clip."""
    parameters = list(module.state.parameters.values())
    for factor, scale in _ELSEWHERE:
        with preserved_values(parameters):
            unsettle(parameters, factor)
            try:
                expected = module.once(scale)
                found = _run_program(program, module.call, module.state, module.observation, module.outputs, scale)
            except Exception:  # which forward may raise of such parameters
                continue
            if module.observation.drawn and not torch.equal(expected.drawn, found.drawn):
                return
            listed = differing(expected.gradients, found.gradients)
            if listed:
                listed = differing(expected.gradients, found.gradients, [module.moved(seed, scale) for seed in (1, 2)])
        if listed:
            raise ExportError(_lost(module.observation, what, f"with other values than it has now: {listed}", more))


def _lost(observation: Observation, what: str, listed: str, more: str) -> str:
    if observation.functions:
        lost = f"an export keeps of a torch.autograd.Function ({', '.join(sorted(observation.functions))}) the forward pass alone"
    elif observation.hooks:
        lost = "an export keeps no hooks of gradients (register_hook, register_full_backward_hook)"
    else:
        lost = "PyTorch loses what forward says of gradients (torch.inference_mode(), torch.no_grad() inside torch.autocast(): with 2.15)"
    return (
        f"{what} has other gradients than the module, also in PyTorch ({listed}): {lost}. Write what it does to gradients "
        f"with detach() and differentiable operators, as in y = g + (y - g).detach(), where g has the gradient wanted{more}"
    )


def differing_values(expected: Tensors, found: Tensors, tolerance: float = TOLERANCE) -> list[str]:
    return [name for name, x in expected.items() if name in found and not _are_same(x, found[name], tolerance)]


def _are_same(expected: torch.Tensor, found: torch.Tensor, tolerance: float) -> bool:
    """Of integers nothing is asked but their shape: they may be positions of equal values."""
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return False
    if not (expected.is_floating_point() or expected.is_complex()):
        return True
    finite = expected.isfinite()
    wide = torch.complex128 if expected.is_complex() else torch.float64
    close = not finite.any() or is_close(expected[finite].to(wide), found[finite].to(wide), tolerance=tolerance)
    return close and torch.equal(finite, found.isfinite())
