# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether every call of a module computes what its first does: an export records one, and every step of a file is that."""

import random
import sys

import torch

from .agreement import Tensors, differing_values
from .attributes import Values, attributes_of, changed_attributes, put_back
from .calls import Call
from .errors import ExportError
from .functions import TOLERANCE
from .modules import preserved_buffers, preserved_values
from .noise import unsettle
from .observing import Observation

_TOLERANCE = 1e-6
"""Of runs of the same operators, whose sums threads may split otherwise; a GPU adds in any order."""


def check_repeats(module: torch.nn.Module, call: Call, observation: Observation, before: Values) -> None:
    """Raises ExportError where a call of the module computes something else behind another one, which left it something that is no
    buffer, or draws from generators that are not PyTorch's. `before` is what its attributes were before the observed call.

    To be called within `preserved`.
    """
    changed = changed_attributes(module, before)
    left = other = attributes_of(module)
    generators = _generators(module)
    first = _outputs_from(before, module, call, observation)
    if drawn := [name for name, state in _generators(module).items() if generators.get(name) != state]:
        raise ExportError(
            f"forward draws from {' and '.join(drawn)}, and exports record one outcome for all steps: draw with PyTorch, and choose by "
            "what was drawn with torch.where(), or give it to forward as an input"
        )
    with preserved_values(module.parameters()):  # a mean of one batch stays what it is where that comes again
        unsettle(module.parameters())
        try:
            _outputs_from(before, module, call, observation)
            other = attributes_of(module)
        except Exception:  # which forward may raise of such parameters
            pass
    tolerance = TOLERANCE if any(x.is_cuda for x in module.parameters()) else _TOLERANCE
    behind = _outputs_from(other, module, call, observation) if changed else first
    again = _outputs_from(before, module, call, observation)
    put_back(left)
    if differing_values(first, again, tolerance):
        raise ExportError(
            "forward computes something else when it is called again with the same inputs, parameters, buffers and attributes: it keeps "
            "something elsewhere (in an object, a class, a global variable), or draws from another generator than PyTorch's, and exports "
            "lose that: make what it keeps a buffer, and write into it (self.count.add_(1)), and draw with torch.rand() and its like"
        )
    if differing_values(first, behind, tolerance):
        raise ExportError(
            f"forward reads what its last call left in the attributes {', '.join(changed[:20])}, and exports lose that: make "
            "each a buffer, and write into it (self.mean.copy_(...)), or, where forward sets it the first time alone, call the "
            "module once before"
        )


def check_counts(module: torch.nn.Module, call: Call, observation: Observation) -> None:
    """Raises ExportError where forward reads how many batches a norm has seen, which is one number for ever in ONNX. To be called within
    `preserved`."""
    norms = [part for part in module.modules() if isinstance(part, torch.nn.modules.batchnorm._BatchNorm) and part.training]
    counts = [part.num_batches_tracked for part in norms if part.num_batches_tracked is not None]
    if not counts:
        return
    values = attributes_of(module)
    first = _outputs_from(values, module, call, observation)
    with preserved_values(counts):
        for x in counts:
            x.add_(1000)
        later = _outputs_from(values, module, call, observation)
    if differing_values(first, later):
        raise ExportError(
            "forward reads how many batches a batch norm has seen (num_batches_tracked), and ONNX has no way to count them: give the file "
            "a name that ends in .pt2"
        )


def _generators(module: torch.nn.Module) -> dict[str, str]:
    """The states of the generators that Python and NumPy have for all, and of theirs among the attributes."""
    numpy = sys.modules.get("numpy")
    states = {"Python's random": repr(random.getstate())}
    if numpy:
        kind, keys, *rest = numpy.random.get_state()
        states["NumPy's random"] = repr((kind, keys.tobytes(), *rest))
    for path, part in module.named_modules():
        for name, x in vars(part).items():
            what = f"the generator {path}.{name}" if path else f"the generator {name}"
            if isinstance(x, random.Random):
                states[what] = repr(x.getstate())
            elif numpy and isinstance(x, numpy.random.Generator):
                states[what] = repr(x.bit_generator.state)
    return states


def _outputs_from(values: Values, module: torch.nn.Module, call: Call, observation: Observation) -> Tensors:
    """What one call gives behind what left these attributes, always with the same random numbers."""
    put_back(values)
    written = [x for name, x in module.named_parameters() if name in observation.written]
    with preserved_buffers(module), preserved_values(written), torch.enable_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return {name: x.detach().clone() for name, x in call.run(module).items()}
