# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where gradients stop in a module: detach(), torch.no_grad() and the like, of which ONNX has nothing."""

import contextlib
from collections.abc import Iterator
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode

from .calls import Call
from .errors import ExportError
from .functions import differing, gradients
from .modules import State, preserved_buffers
from .observing import Observation
from .watching import requirement


def check_stops(module: torch.nn.Module, call: Call, state: State, observation: Observation) -> None:
    """Raises ExportError where a parameter would get another gradient if none stopped. To be called within `preserved`."""
    if not observation.stops:
        return
    parameters = {name: x for name, x in state.parameters.items() if x.requires_grad}
    trained: set[str] = set()  # outputs that have a gradient: others are no losses

    def run(mode) -> dict[str, torch.Tensor]:
        with preserved_buffers(module), torch.enable_grad(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            with mode:
                outputs = call.run(module)
            if not trained:
                trained.update(name for name, x in outputs.items() if x.requires_grad)
            return gradients([x for name, x in outputs.items() if name in trained], parameters)

    stopped = run(contextlib.nullcontext())
    try:
        with _without_inference_mode():
            wrong = differing(stopped, run(_Through()))
        which = f"{wrong} would be trained by another gradient" if wrong else ""
    except RuntimeError as error:
        which = f"what it would give cannot be told ({error})"
    if which:
        raise ExportError(
            f"the gradient stops in the module (detach(), torch.no_grad(), requires_grad_(False)), and ONNX has no way to say so: {which}. "
            "Give the file a name that ends in .pt2"
        )


@contextlib.contextmanager
def _without_inference_mode() -> Iterator[None]:
    """Lets gradients go through torch.inference_mode(), of which no function mode sees anything."""
    with (
        mock.patch.object(torch.inference_mode, "__enter__", lambda self: None),
        mock.patch.object(torch.inference_mode, "__exit__", lambda self, *error: None),
    ):
        yield


class _Through(TorchFunctionMode):
    """Gradients go through detach(), .data and torch.no_grad(), and to what is frozen for a while."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in (torch.Tensor.detach, torch.detach, torch.Tensor.data.__get__):
            return args[0].view_as(args[0])
        if func is torch._C._set_grad_enabled:
            return None
        if requirement(func, args, kwargs or {}) is False:
            return args[0]
        return func(*args, **(kwargs or {}))
