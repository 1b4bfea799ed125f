# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixed precision: what PyTorch makes of a module under torch.autocast, and how far from it accc may be."""

import contextlib
import dataclasses

import torch

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
NAMES = ("fp32", *TYPES)
# A tensor may be so many times as far from PyTorch's in double precision as PyTorch's under autocast is. Both round the factors of
# products, but accc for all that read them, so that in any case a tensor may be as far from it as some roundings to 16 bits (2^-9
# each on average) bring it. Where autocast rounds nothing at all, neither does accc, and the rule is that of single precision.
FACTOR, LAST_PLACE = 4, {"bf16": 2.0**-7, "fp16": 2.0**-10}
LOSS_SCALE = 2.0**4  # of fp16: samples are of ordinary size, and so are their gradients


@dataclasses.dataclass(frozen=True)
class Precision:
    """That of `accc compile --precision`. The loss is scaled in fp16, but not that of a file that holds its backward pass.

    `has_products` says that there are some in what is run, also where autocast leaves no trace of them: of ones, say.
    """

    name: str = "fp32"
    has_products: bool = False

    @property
    def is_mixed(self):
        return self.name in TYPES

    def options(self, has_backward=False):
        scale = () if self.name != "fp16" else ("--loss-scale", "none" if has_backward else f"fixed={LOSS_SCALE:g}")
        return ("--precision", self.name, *scale) if self.is_mixed else ()

    def scale(self, has_backward=False):
        return LOSS_SCALE if self.name == "fp16" and not has_backward else 1.0

    @contextlib.contextmanager
    def running(self):
        """PyTorch computes in it. oneDNN has no recurrent layers of float16, and PyTorch does not ask it whether it has."""
        before = torch._C._get_mkldnn_enabled()
        torch._C._set_mkldnn_enabled(before and self.name != "fp16")
        try:
            with torch.autocast("cpu", TYPES.get(self.name), enabled=self.is_mixed):
                yield
        finally:
            torch._C._set_mkldnn_enabled(before)

    def explains(self, found, rounded, exact):
        """Whether rounding to 16 bits explains how far a tensor of accc is from PyTorch's in double precision, given its under autocast."""
        if not found.shape == rounded.shape == exact.shape:
            return False
        if not found.is_floating_point():
            return torch.equal(found.long(), rounded.long())
        a, b, exact = found.double(), rounded.double(), exact.double()
        same = torch.isclose(a, exact, rtol=0, atol=0, equal_nan=True) | ~(a.isfinite() | b.isfinite())  # which overflowed in both
        size = torch.where(exact.isfinite(), exact, 0).norm()
        a, b, exact = (torch.where(same, 0, x) for x in (a, b, exact))
        allowed = torch.maximum(FACTOR * torch.where(b.isfinite(), b - exact, 0).norm(), LAST_PLACE[self.name] * size)
        return bool(a.isfinite().all() and (a - exact).norm() <= allowed)
