# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments so large or small that a formula's parts leave the floats where its result does not."""

import torch

NONE = torch.tensor([[0.0, -torch.inf, 0.0], [0.0, 0.0, -torch.inf]])
FAR = torch.tensor([-200.0, -90.0, 0.0])


def of_size(size):
    """Complex numbers about so large."""
    return lambda x: torch.complex(x, x.exp() - 3) * size


LARGE, SMALL = of_size(1e25), of_size(1e-25)

EXTREMES = {
    "logcumsumexp_far": lambda x: (x + FAR).logcumsumexp(1) / 100, "logcumsumexp_none": lambda x: (x + NONE).logcumsumexp(1),
    "logcumsumexp_down": lambda x: (x + FAR).logcumsumexp(0) / 100, "logcumsumexp_falling": lambda x: (x - FAR).logcumsumexp(-1) / 100,
    "hypot_large": lambda x: torch.hypot(x * 1e25, 1e25 + x) * 1e-25, "hypot_small": lambda x: torch.hypot(x * 1e-25, x * 1e-25 + 1e-25) * 1e25,
    "sinh_large": lambda x: torch.sinh(89 + x.tanh() / 10) * 1e-34, "cosh_large": lambda x: torch.cosh(-89 + x.tanh() / 10) * 1e-34,
    "abs_large": lambda x: LARGE(x).abs() * 1e-25, "abs_small": lambda x: SMALL(x).abs() * 1e25,
    "angle_large": lambda x: LARGE(x).angle(),
    "log_large": lambda x: LARGE(x).log().real / 50, "log_small": lambda x: SMALL(x).log().real / 50,
    "quotient_large": lambda x: ((1 + 2j) * LARGE(x) / LARGE(x + 1)).imag, "quotient_small": lambda x: (SMALL(x) / SMALL(x.cos())).real / 10,
    "sign_large": lambda x: LARGE(x).sgn().real, "sign_small": lambda x: SMALL(x).sgn().imag,
    "root_large": lambda x: (LARGE(x) ** 0.5).real * 1e-13, "root_small": lambda x: (SMALL(x) ** 0.5).imag * 1e12,
}
