# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches of the full-size models. Small inputs are in the pack; large ones of floats, which would not
fit, are described in meta.json ("random": {name: shape}) and made where they are needed."""

import array
import json
import random
import struct


def read(path):
    """{name: (dtype, shape, bytes)} of a safetensors file."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    body = memoryview(data)[8 + length :]
    header.pop("__metadata__", None)
    return {n: (x["dtype"], x["shape"], body[slice(*x["data_offsets"])]) for n, x in header.items()}


def write(path, tensors):
    header, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, data in tensors.values():
            file.write(data)


def normal(count):
    """Bytes of `count` floats, normal numbers that repeat after a while, the same ones each time."""
    generator = random.Random(2)
    values = array.array("f", (generator.gauss(0, 1) for _ in range(min(count, 99991))))
    repeated = values.tobytes() * (count // len(values) + 1)
    return repeated[: 4 * count]


def of(folder, scratch):
    """The file with all inputs of the model in `folder`."""
    made = json.loads((folder / "meta.json").read_text()).get("random", {})
    if not made:
        return folder / "inputs.safetensors"
    path = scratch / f"{folder.name}.inputs.safetensors"
    if not path.exists():
        tensors = read(folder / "inputs.safetensors")
        for name, shape in made.items():
            count = 1
            for extent in shape:
                count *= extent
            tensors[name] = ("F32", shape, normal(count))
        write(path, tensors)
    return path
