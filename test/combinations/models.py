# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models that programs train: those of test/training, and one of this folder."""

import dataclasses
import json
import pathlib
import re
import struct

HERE = pathlib.Path(__file__).resolve().parent
TRAINING = HERE.parent / "training"
TYPES = {"F32": "float32", "F64": "float64", "I64": "int64", "I32": "int32", "BOOL": "bool"}


@dataclasses.dataclass
class Model:
    """A file with what its meta.json says of it; `steps` are the names of its training steps."""

    file: pathlib.Path
    inputs: pathlib.Path
    losses: list
    optimizers: list
    rate: float
    dims: dict
    more: list  # further options of the command line
    settings: dict = dataclasses.field(default_factory=dict)  # of every program

    @property
    def steps(self):
        return [loss.split("=")[0] for loss in self.losses] if len(self.losses) > 1 else [""]

    @property
    def name(self):
        return f"{self.file.parent.name}/{self.file.name}"


def texts(value):
    return value if isinstance(value, list) else [value] if value else []


def header(path):
    """{name: {dtype, shape, data_offsets}} of a safetensors file."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        return {name: entry for name, entry in json.loads(file.read(size)).items() if name != "__metadata__"}


def model_of(file, meta):
    losses, more = texts(meta["loss"]), []
    for entry in meta.get("files", []):
        if entry["file"] == file.name:
            losses = texts(entry["loss"]) if "loss" in entry else losses
            for name in entry.get("freeze", []):
                more += ["--freeze", f"^{re.escape(name)}$"]
    for regex in meta.get("train", []):
        more += ["--train", regex]
    for regex, options in meta.get("param_groups", []):
        more += ["--param-group", regex, options]
    inputs = file.parent / "inputs.safetensors"
    for given in meta.get("inputs", []):
        more += ["--input", given]
    if file.suffix == ".pt" and "inputs" not in meta:
        for name, entry in header(inputs).items():
            more += ["--input", f"{name}={TYPES[entry['dtype']]}[{','.join(map(str, entry['shape']))}]"]
    optimizers, rate = texts(meta["optimizer"]), meta.get("lr", 0.01)
    return Model(file, inputs, losses, optimizers, rate, meta.get("dims", {}), more)


def draw_model(random, small):
    """A model; `small` ones have few kernels. Two are drawn more often: one whose tensors fit each other's places, and
    one whose convolutions wait for each other's threads."""
    metas = {kind: sorted(TRAINING.glob(f"{kind}/*/meta.json")) for kind in ("goldens", "*")}
    kind = random.choices(["goldens", "*", "fitting", "waiting"], [4, 4, 1, 1])[0]
    if kind == "fitting":
        found = [own()]
    else:
        found = models_of(TRAINING / "goldens/resnet18" if kind == "waiting" else random.choice(metas[kind]).parent)
    model = random.choice(found)
    return draw_model(random, small) if small and model.file.stat().st_size > 60_000 else model


def own():
    weights = HERE / "refined.safetensors"
    return Model(HERE / "refined.mlir", weights, ["mse"], ["sgd"], 0.05, {}, [], {"weights": weights})


def models_of(folder):
    said = json.loads((folder / "meta.json").read_text())
    files = sorted([*folder.glob("*.onnx"), *folder.glob("*.pt2"), *folder.glob("*.pt")])
    # Traces name their inputs otherwise.
    return [model_of(file, said) for file in files if "inputs" not in said or file.name != "traced.pt"]
