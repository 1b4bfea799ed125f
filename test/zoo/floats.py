# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""In which types a model of the zoo is trained."""

import dataclasses
import pathlib


@dataclasses.dataclass(frozen=True)
class Floats:
    """The type of the module's floats, and what `accc compile --precision` makes of those of float32."""

    dtype: str = "float32"
    precision: str = "fp32"

    @property
    def are_full(self) -> bool:
        """Whether none have 16 bits: where some have, rounding decides in every model."""
        return self == Floats()

    def within(self, cache: pathlib.Path) -> pathlib.Path:
        """The folder of what is known of models that are trained so."""
        return cache if self.are_full else cache / (self.precision if self.dtype == "float32" else self.dtype)
