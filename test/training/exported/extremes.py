# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments so large or small that a formula's parts leave the floats where its result does not."""

import torch

NONE = torch.tensor([[0.0, -torch.inf, 0.0], [0.0, 0.0, -torch.inf]])
FAR = torch.tensor([-200.0, -90.0, 0.0])

EXTREMES = {
    "logcumsumexp_far": lambda x: (x + FAR).logcumsumexp(1) / 100, "logcumsumexp_none": lambda x: (x + NONE).logcumsumexp(1),
    "logcumsumexp_down": lambda x: (x + FAR).logcumsumexp(0) / 100, "logcumsumexp_falling": lambda x: (x - FAR).logcumsumexp(-1) / 100,
    "hypot_large": lambda x: torch.hypot(x * 1e25, 1e25 + x) * 1e-25, "hypot_small": lambda x: torch.hypot(x * 1e-25, x * 1e-25 + 1e-25) * 1e25,
    "sinh_large": lambda x: torch.sinh(89 + x.tanh() / 10) * 1e-34, "cosh_large": lambda x: torch.cosh(-89 + x.tanh() / 10) * 1e-34,
}
