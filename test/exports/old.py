# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes `torch26_folded.onnx` and its like: models of make.py, with the weights in the goldens, as PyTorch's dynamo exporter wrote
them before it noted what it folds parameters into.

    python old.py     (with PyTorch 2.4, 2.6, 2.7 or 2.8; needs onnx, onnxscript and safetensors)
"""

import torch
from safetensors.torch import load_file

import make

PLAIN = ("recurrent",)
FUNCTIONS = ("tied", "transformer")
"""By PyTorch 2.4, which writes a function for each module."""
FOLDED = ("looked_up", "recurrent", "stopped", "tied", "transformer", "up", "written")


def main():
    version = "torch" + "".join(torch.__version__.split(".")[:2])
    is_first = version == "torch24"
    for name, way in [(name, "folded") for name in FUNCTIONS] if is_first else [(name, "plain") for name in PLAIN] + [(name, "folded") for name in FOLDED]:
        golden = load_file(make.HERE / name / "golden.safetensors")
        module, _ = getattr(make, name)()
        state = {key.removeprefix("before."): value for key, value in golden.items() if key.startswith("before.")}
        module.load_state_dict(state, strict=False)  # but for counters
        path = make.HERE / name / f"{version}_{way}.onnx"
        if is_first:
            torch.onnx.dynamo_export(module.train(), golden["input"]).save(str(path))
            make.strip(path)
        else:
            make.export(module, golden["input"], path, True, dict(dynamo=True, optimize=way == "folded"))
        print(path.name)


if __name__ == "__main__":
    main()
