# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The full-size models: those of examples/export with batches for a GPU. Needs PyTorch.

    gpu_models.py NAME DIR     # writes DIR/model.onnx, inputs.safetensors and meta.json
"""

import dataclasses
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
# In the repository, or beside this file in a pack.
for folder in (HERE.parents[1] / "examples" / "export", HERE.parent / "export"):
    if folder.is_dir():
        sys.path.insert(0, str(folder))

import torch  # noqa: E402

import models  # noqa: E402
from full_size import FULL_SIZE  # noqa: E402

LARGEST_PACKED = 1 << 20  # bytes of an input


def build(name):
    """The Case of examples/export with another batch, the same each time."""
    model = FULL_SIZE[name]
    torch.manual_seed(0)
    case = models.find(model.source)("full")
    generator = torch.Generator().manual_seed(3)
    inputs = {}
    for key, value in case.inputs.items():
        shape = (model.batch, *value.shape[1:]) if model.words is None else (model.batch, model.words)
        if value.is_floating_point():
            inputs[key] = torch.randn(shape, generator=generator)
        elif key == "attention_mask":
            inputs[key] = torch.ones(shape, dtype=value.dtype)
        else:
            inputs[key] = torch.randint(1, model.vocabulary, shape, generator=generator)
    rows = model.batch * model.targets_per_row
    target = torch.randint(model.classes, (rows,), generator=generator)
    return dataclasses.replace(case, inputs=inputs, target=target)


def main():
    from safetensors.torch import save_file

    name, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    case = build(name)
    done = case.export("dynamo", out / "model.onnx")
    files = [{"file": "model.onnx", "exporter": done.exporter, "opset": done.opset}]
    tensors, made = {"target": case.target}, {}
    for key, value in case.inputs.items():
        if value.is_floating_point() and value.nbytes > LARGEST_PACKED:
            made[key] = list(value.shape)
        else:
            tensors[key] = value
    save_file(tensors, out / "inputs.safetensors")
    meta = {"model": name, "files": files, "loss": case.loss, "optimizer": case.optimizer, "lr": case.lr}
    meta |= {"dims": done.dims, "random": made, "torch": torch.__version__}
    partial = out / "meta.json.part"
    partial.write_text(json.dumps(meta, indent=2) + "\n")
    os.replace(partial, out / "meta.json")  # last: a folder that has it is whole


if __name__ == "__main__":
    main()
