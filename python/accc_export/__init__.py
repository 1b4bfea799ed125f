# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports PyTorch modules for training with accc, and records goldens to check the training.

    import accc_export
    accc_export.export(module, (images,), "model.onnx", dynamic={"batch": {"images": 0}})

`export` writes the file that `accc compile` reads, `export_joint` one with its loss and PyTorch's backward pass, `golden` a
folder for `accc diff`, and `state_dict` reads what training wrote back into the form of `module.state_dict()`.
"""

try:
    import onnx  # noqa: F401
    import safetensors  # noqa: F401
    import torch
except ImportError as error:
    needed = "pip install torch onnx onnxscript safetensors"
    raise ImportError(f"accc_export needs the package {error.name}: {needed}") from error
if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 10):
    raise ImportError(f"accc_export needs PyTorch 2.10 or newer, and this is {torch.__version__}")

from .errors import ExportError, ExportWarning
from .exporters import EXPORTERS
from .exporting import Export, export, export_joint
from .goldens import golden
from .trained import state_dict

__all__ = ["EXPORTERS", "Export", "ExportError", "ExportWarning", "export", "export_joint", "golden", "state_dict"]
__version__ = "0.1.0"
