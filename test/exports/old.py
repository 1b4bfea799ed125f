# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes `torch26_folded.onnx` and its like: models of make.py, with the weights in the goldens, as PyTorch's dynamo exporter wrote
them before it noted what it folds parameters into.

    python old.py     (with PyTorch 2.6, 2.7 or 2.8; needs onnx, onnxscript and safetensors)
"""

import torch
from safetensors.torch import load_file

import make

PLAIN = ("recurrent",)
FOLDED = ("looked_up", "recurrent", "stopped", "tied", "transformer", "up", "written")


def main():
    version = "torch" + "".join(torch.__version__.split(".")[:2])
    for name, way in [(name, "plain") for name in PLAIN] + [(name, "folded") for name in FOLDED]:
        golden = load_file(make.HERE / name / "golden.safetensors")
        module, _ = getattr(make, name)()
        state = {key.removeprefix("before."): value for key, value in golden.items() if key.startswith("before.")}
        module.load_state_dict(state, strict=False)  # but for counters
        path = make.HERE / name / f"{version}_{way}.onnx"
        make.export(module, golden["input"], path, True, dict(dynamo=True, optimize=way == "folded"))
        print(path.name)


if __name__ == "__main__":
    main()
