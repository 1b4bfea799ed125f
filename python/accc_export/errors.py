# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong with an export."""


class ExportError(Exception):
    """The module cannot be exported as asked; the message names the tensor or module, and what to do."""


class ExportWarning(UserWarning):
    """The export is good, but not what one might have expected."""
