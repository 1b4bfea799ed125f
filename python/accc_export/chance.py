# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers that a module draws in training alone, beside dropouts: it looks at self.training, which no file has."""


import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from .calls import Call
from .dropouts import plain_drop_paths
from .errors import warn
from .modules import State, evaluating, preserved_buffers, preserved_values
from .observing import Observation

_OF_TENSORS = ("bernoulli", "bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "multinomial", "normal_", "random_", "uniform_")
_OF_TORCH = ("bernoulli", "multinomial", "normal", "poisson", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm")
_DRAWS = {getattr(torch.Tensor, name) for name in _OF_TENSORS} | {getattr(torch, name) for name in _OF_TORCH} | {functional.gumbel_softmax}


class _Draws(TorchFunctionMode):
    """Counts calls for random numbers. What a function of PyTorch's calls itself, a dropout, is not seen."""

    count = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.count += func in _DRAWS
        return func(*args, **(kwargs or {}))


def warn_of_chance(module: torch.nn.Module, call: Call, state: State, observation: Observation) -> None:
    """Warns where evaluation would draw what the module draws in training alone. To be called within `preserved`."""
    written = [state.parameters[name] for name in observation.written]
    trained = _draws(module, call, written)
    if trained == 0:
        return
    try:
        with evaluating(module):
            evaluated = _draws(module, call, written)
    except Exception:  # a module that has no evaluation mode
        return
    if evaluated < trained:
        text = (
            f"the module draws random numbers in training that it does not draw in evaluation (calls beside dropouts: {trained} in "
            f"training, {evaluated} in evaluation), and no file has self.training: eval_step draws them, too. Evaluate the module "
            "with PyTorch, or with a library of its own, exported in evaluation mode"
        )
        warn(text)


def _draws(module: torch.nn.Module, call: Call, written: list[torch.Tensor]) -> int:
    with preserved_buffers(module), preserved_values(written), torch.random.fork_rng(devices=[]), torch.enable_grad():
        with plain_drop_paths(), _Draws() as draws:
            call.run(module)
    return draws.count
