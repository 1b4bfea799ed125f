# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `accc diff` holds small tensors to: how much of each rounding decides, and how far training moves a parameter.

A gradient of 1e-5 passes any absolute tolerance of 1e-4. It is held to its own size instead, and where it fails, to how far
apart runs are that are as right as the golden: of the same module, each weight of which is moved by some floats.
"""

from collections.abc import Callable, Iterable

import torch

from .modules import copied

DISTANCES = (1, 2, 4, 8)
"""By how many steps the weights of each run are moved; as `accc golden` does it."""

FLOATS = {"fp32": 1, "bf16": 2**13, "fp16": 2**10}
"""By precision, the floats of a step: to the next, or as far as an eighth of the last place of the type to which products round them."""

INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}

Tensors = dict[str, torch.Tensor]


def move(module: torch.nn.Module, seed: int, distance: int = 1) -> torch.nn.Module:
    """Moves every parameter by `distance` floats, each element up or down: the module is as right as before.

    How far its results are from the original's is how much rounding decides in this model. Zero stays, and so do
    subnormal numbers, which a step takes for zero.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            numbers = torch.view_as_real(parameter) if parameter.is_complex() else parameter
            if not numbers.is_floating_point():
                continue
            up = (torch.rand(numbers.shape, generator=generator) < 0.5).to(numbers.device)
            bits = numbers.contiguous().view(INTEGERS[numbers.element_size()])  # sign and magnitude: floats in order
            step = distance if numbers.element_size() > 2 else 1
            moved = bits + torch.where(up == (numbers > 0), step, -step).to(bits.dtype)
            normal = numbers.abs() >= torch.finfo(numbers.dtype).tiny
            numbers.copy_(torch.where(normal, moved.view(numbers.dtype), numbers))
    return module


def unsettle(parameters: Iterable[torch.nn.Parameter], sign: float = 1) -> None:
    """Changes each by a half at most, by another part from element to element, behind that by this factor."""
    with torch.no_grad():
        for x in parameters:
            if x.is_floating_point() or x.is_complex():
                x.mul_(sign).mul_(1 + 0.5 * torch.arange(x.numel(), device=x.device).cos().reshape(x.shape).to(x.dtype))


def measure(
    module: torch.nn.Module, golden: Tensors, train: Callable[[torch.nn.Module], Tensors], precision: str = "fp32"
) -> dict:
    """`noise` and `updates` of meta.json: by the name of a tensor of `golden`, the RMSE between it and the farthest of
    some runs from moved weights; by that of a parameter or buffer after training, the RMSE to what it was before.

    `train` gives what `golden` holds, of a copy of the module.
    """
    floats = FLOATS[precision]
    runs = [train(move(copied(module), distance, distance * floats)) for distance in DISTANCES]
    noise = {name: max(_distance(run[name], x) for run in runs) for name, x in golden.items()}
    initial = {f"param.{name}": x for name, x in (*module.named_parameters(), *module.named_buffers())}
    return {"noise": noise, "updates": {name: _distance(initial[name], x) for name, x in golden.items() if name in initial}}


def _distance(a: torch.Tensor, b: torch.Tensor) -> float:
    """The root mean square of the difference, of elements that are finite; 0 where there is none."""
    a, b = (torch.view_as_real(x) if x.is_complex() else x for x in (a.detach(), b.detach()))
    if a.shape != b.shape or a.numel() == 0:
        return 0.0
    difference = a.double() - b.double()
    rmse = torch.where(difference.isfinite(), difference, 0).square().mean().sqrt()
    return float(f"{rmse.item():.4g}")
