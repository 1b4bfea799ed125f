# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong with an export."""

import sys
import warnings


class ExportError(Exception):
    """The module cannot be exported as asked; the message names the tensor or module, and what to do."""


class ExportWarning(UserWarning):
    """The export is good, but not what one might have expected."""


def warn(text: str) -> None:
    """Gives an ExportWarning that names the line which called the package."""
    frame, level = sys._getframe(), 1
    outermost = level
    while frame is not None:
        if frame.f_globals.get("__package__") == __package__:
            outermost = level
        frame, level = frame.f_back, level + 1
    warnings.warn(text, ExportWarning, stacklevel=outermost + 1)
