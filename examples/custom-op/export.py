# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the module of quantize.py as ONNX and as a program of torch.export, and a golden of its training.

    pip install torch onnx onnxscript safetensors PREFIX/share/accc/python
    python export.py [FOLDER]
"""

import pathlib
import sys

import accc_export
import torch
from safetensors.torch import save_file

from quantize import Net, spirals


def onnx_quantize(graph, x, step, bits):
    """The node that acme::quantize becomes in an ONNX file: its domain and operator type are the operator's name."""
    bits = torch.onnx.symbolic_helper._get_const(bits, "i", "bits")
    return graph.op("acme::quantize", x, step, bits_i=bits).setType(x.type())


def main(folder):
    """What is rounded may go either way where two programs differ in the last bit; SGD does not make more of it."""
    torch.onnx.register_custom_op_symbolic("acme::quantize", onnx_quantize, 1)
    torch.manual_seed(0)
    points, labels = spirals(1024)
    module = Net()
    save_file({"points": points, "labels": labels}, folder / "spirals.safetensors")
    accc_export.golden(
        module,
        {"points": points[:64]},
        folder / "golden",
        target=labels[:64],
        loss="cross_entropy=logits",
        optimizer="sgd,momentum=0.9",
        lr=0.1,
        exporter=["torchscript", "torch.export"],
        double=False,
    )


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
