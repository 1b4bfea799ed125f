# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a module computes in evaluation by looking at self.training, which no file has: a file knows what dropouts, batch norms and
their like do then, and nothing else."""

import inspect

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from .agreement import Tensors
from .calls import Call
from .dropouts import plain_drop_paths
from .errors import warn
from .functions import differing, distance
from .modules import State, evaluating, preserved_buffers, preserved_modes, preserved_values
from .noise import move, unsettle
from .observing import Observation


def _arguments(name: str) -> tuple[str, ...]:
    return tuple(x.name for x in getattr(torch.ops.aten, name).default._schema.arguments)


_OF_PYTHON = (
    functional.alpha_dropout,
    functional.batch_norm,
    functional.dropout,
    functional.dropout1d,
    functional.dropout2d,
    functional.dropout3d,
    functional.feature_alpha_dropout,
    functional.instance_norm,
    functional.multi_head_attention_forward,
    functional.rrelu,
)
_BUILT_IN = ("alpha_dropout", "batch_norm", "dropout", "feature_alpha_dropout", "feature_dropout", "instance_norm", "rrelu")
"""What compilers know the evaluation of, beside recurrent layers, which are modules: functions of Python, and of torch and its operators."""
_KNOWN = {
    **{function: tuple(inspect.signature(function).parameters) for function in _OF_PYTHON},
    **{getattr(torch, name): _arguments(name) for name in _BUILT_IN},
    functional.scaled_dot_product_attention: _arguments("scaled_dot_product_attention"),
}
"""Each with the names of its arguments."""
_OF_EVALUATION = {"train": False, "training": False, "use_input_stats": False, "dropout_p": 0.0}
"""What some of these are in evaluation."""


class _Evaluated(TorchFunctionMode):
    """Calls them as eval_step does, whatever forward says: norms without running statistics go on using those of the batch."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        names = _KNOWN.get(func)
        if names is None:
            return func(*args, **kwargs)
        given = dict(zip(names, args)) | kwargs
        if given.get("running_mean", ...) is not None:
            given |= {name: x for name, x in _OF_EVALUATION.items() if name in names}
        return func(**given)


def warn_of_evaluation(module: torch.nn.Module, call: Call, state: State, observation: Observation) -> None:
    """Warns where the module's evaluation gives something else than eval_step will. To be called within `preserved`."""
    try:
        listed = _differences(module, call, state, observation)
        if not listed:  # a norm of weights that has converged
            with preserved_values(state.parameters.values()):
                unsettle(state.parameters.values())
                listed = _differences(module, call, state, observation)
    except Exception:  # a module that has no evaluation mode, and what forward may raise of such parameters
        return
    if listed:
        text = (
            f"evaluation is not what eval_step will be: {', '.join(listed)}. forward does something by self.training, which no file has, "
            "or drops and takes the statistics of a batch in evaluation, too. Evaluate the module with PyTorch, or with a library of its "
            "own, exported in evaluation mode"
        )
        warn(text)


def _differences(module, call: Call, state: State, observation: Observation) -> list[str]:
    """As text, of outputs that are returned in both."""
    with evaluating(module):
        expected, drawn = _run(module, call, state, observation)
    found, own = _run_as_file(module, call, state, observation)
    if own not in (drawn, _undrawn()):  # noise of training, of which warn_of_chance tells
        return []
    if not expected.keys() & found.keys():  # a tuple in training, a tensor in evaluation
        found = dict(zip(expected, found.values()))
    listed, moved = [], None
    for name, a in expected.items():
        b = found.get(name, a)
        if a.shape != b.shape:
            listed.append(f"{name} is of shape {list(a.shape)} in evaluation, and {list(b.shape)} in the file")
        elif differing({name: a}, {name: b}):
            moved = moved or [_moved(module, call, state, observation, seed) for seed in (1, 2)]
            if differing({name: a}, {name: b}, moved):
                listed.append(f"{name} differs by {distance(a, b) / max(a.norm().item(), 1e-30):.2g} of its size")
    return listed


def _moved(module, call: Call, state: State, observation: Observation, seed: int) -> Tensors:
    """In evaluation, of the module whose every weight is moved to the next float."""
    with evaluating(module), preserved_values(state.parameters.values()):
        move(module, seed)
        return _run(module, call, state, observation)[0]


def _run_as_file(module, call: Call, state: State, observation: Observation) -> tuple[Tensors, bytes]:
    with preserved_modes(module), plain_drop_paths(), _Evaluated():
        for part in module.modules():
            if isinstance(part, torch.nn.RNNBase):
                part.training = False
        return _run(module, call, state, observation)


def _run(module, call: Call, state: State, observation: Observation) -> tuple[Tensors, bytes]:
    """What it returns but integers, and which random numbers come next."""
    written = [state.parameters[name] for name in observation.written]
    with preserved_buffers(module), preserved_values(written), torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(0)
        found = call.run(module)
        drawn = torch.get_rng_state().numpy().tobytes()
    return {name: x.detach() for name, x in found.items() if x.is_floating_point() or x.is_complex()}, drawn


def _undrawn() -> bytes:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return torch.get_rng_state().numpy().tobytes()
