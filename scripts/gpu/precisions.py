# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The precisions in which a model is packed (`accc compile --precision`)."""

LIBRARIES = {"fp32": "model.so", "tf32": "model_tf32.so", "bf16": "model_bf16.so"}
"""The file of a model's folder that holds it in each."""


def packed_in(folder):
    """By precision, those of the folder's libraries that are there."""
    return {precision: folder / name for precision, name in LIBRARIES.items() if (folder / name).exists()}
