# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where gradients stop in a module: detach(), torch.no_grad() and the like, of which ONNX has nothing."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from unittest import mock

import torch
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from .calls import Call
from .errors import ExportError
from .functions import Node, backward_nodes, differing, gradients
from .modules import State, preserved_buffers, preserved_values
from .noise import unsettle
from .observing import Observation
from .watching import requirement

_Edge = tuple[int, int]
"""The number of a node of the backward pass, and of a gradient that it gives."""


def check_stops(module: torch.nn.Module, call: Call, state: State, observation: Observation) -> None:
    """Raises ExportError where a parameter would get another gradient if none stopped, or may get one with other values than the example's. To be
    called within `preserved`."""
    if not observation.stops:
        return
    parameters = {name: x for name, x in state.parameters.items() if x.requires_grad}
    trained: set[str] = set()  # outputs that have a gradient: others are no losses

    def run(mode: "_Requirements | _Through") -> dict[str, torch.Tensor]:
        with preserved_buffers(module), torch.enable_grad(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            with mode:
                outputs = call.run(module)
            if not trained:
                trained.update(name for name, x in outputs.items() if x.requires_grad)
            kept = [x for name, x in outputs.items() if name in trained]
            mode.see(kept)
            return gradients(kept, parameters)

    def compared() -> tuple[str, set[_Edge]]:
        """The parameters whose gradients differ, and where nothing but zeros would go on."""
        requirements = _Requirements()
        stopped = run(requirements)
        with _without_inference_mode():
            through = _Through(requirements.calls)
            wrong = differing(stopped, run(through))
        return wrong, through.zeros

    try:
        wrong, zeros = compared()
        which = f"{wrong} would be trained by another gradient" if wrong else ""
    except RuntimeError as error:
        which, zeros = f"what it would give cannot be told ({error})", set()
    if not which and zeros and not _arrives_elsewhere(module, compared, zeros):
        which = "of the example none would come further (what is clamped or masked, or a factor, is zero), and of other values one might"
    if which:
        raise ExportError(
            f"the gradient stops in the module (detach(), torch.no_grad(), requires_grad_(False)), and ONNX has no way to say so: {which}. "
            "Give the file a name that ends in .pt2"
        )


def _arrives_elsewhere(module: torch.nn.Module, compared: Callable[[], tuple[str, set[_Edge]]], zeros: set[_Edge]) -> bool:
    """Whether, with other parameters, gradients go on there without making a difference, as where a maximum is subtracted and added."""
    with preserved_values(module.parameters()):
        for sign in (1, -1):
            unsettle(module.parameters(), sign)
            try:
                wrong, still = compared()
            except Exception:  # which forward may raise of such parameters
                continue
            zeros = zeros & still
            if wrong:
                return False
    return not zeros


@contextlib.contextmanager
def _without_inference_mode() -> Iterator[None]:
    """Lets gradients go through torch.inference_mode(), of which no function mode sees anything."""
    with (
        mock.patch.object(torch.inference_mode, "__enter__", lambda self: None),
        mock.patch.object(torch.inference_mode, "__exit__", lambda self, *error: None),
    ):
        yield


def _tensors(results) -> list[torch.Tensor]:
    return [x for x in tree_leaves(results) if isinstance(x, torch.Tensor)]


class _Requirements(TorchFunctionMode):
    """Which results of each call require a gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        results = func(*args, **(kwargs or {}))
        self.calls.append((func, [x.requires_grad for x in _tensors(results)]))
        return results

    def see(self, outputs: list[torch.Tensor]) -> None:
        """Of the outputs there is nothing to know."""


_FLAT = {"CeilBackward0", "FillBackward0", "FloorBackward0", "RoundBackward0", "RoundBackward1", "SignBackward0", "TruncBackward0", "ZeroBackward0"}
"""Derivatives that are zero everywhere."""


class _Through(TorchFunctionMode):
    """Gradients go through detach(), .data and torch.no_grad(), and to what is frozen for a while. `calls` are those of the module as it
    is, of which some results require no gradient that do so here: the stops."""

    def __init__(self, calls: list[tuple]) -> None:
        super().__init__()
        self.calls, self.count = calls, 0
        self.stops: set[Node] = set()
        self.zeros: set[_Edge] = set()
        """Where nothing but zeros went on, of what gradients come to through stops alone."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        results = self._call(func, args, kwargs or {})
        place, self.count = self.count, self.count + 1
        if place >= len(self.calls) or self.calls[place][0] != func:
            raise RuntimeError("forward asks whether gradients are required, and does something else")
        for x, required in zip(_tensors(results), self.calls[place][1]):
            if x.requires_grad and not required and not is_functorch_wrapped_tensor(x) and x.grad_fn is not None:
                self.stops.add(x.grad_fn)
        return results

    def _call(self, func, args, kwargs):
        if func in (torch.Tensor.detach, torch.detach, torch.Tensor.data.__get__):
            return args[0].view_as(args[0])
        if func is torch._C._set_grad_enabled:
            return None
        if requirement(func, args, kwargs) is False:
            return args[0]
        return func(*args, **kwargs)

    def see(self, outputs: list[torch.Tensor]) -> None:
        """Watches what is behind the stops, but for what no other gradient than zero comes to, whatever the values are."""
        others = set(backward_nodes(outputs, lambda node: node not in self.stops))
        behind = [node for node in backward_nodes(outputs, lambda node: node.name() not in _FLAT) if node not in others]
        for i, node in enumerate(behind):
            if any(following is not None for following, _ in node.next_functions):
                node.register_hook(functools.partial(self._pass, i, node))

    def _pass(self, i: int, node: Node, gradients: tuple, _) -> None:
        for k, ((following, _), gradient) in enumerate(zip(node.next_functions, gradients)):
            if following is not None and gradient is not None and not (gradient != 0).any():
                self.zeros.add((i, k))
