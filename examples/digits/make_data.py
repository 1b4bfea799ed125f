#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes data/digits.safetensors from scikit-learn's copy of the UCI hand-written digits.

    images  float32 [1797, 1, 8, 8]   grey levels, 0..16 scaled to 0..1
    labels  int64   [1797]            0..9

The rows are shuffled once, with a fixed seed. The first 1413 rows are for training, the last 384
(six batches of 64) are held out; the file's metadata repeats the split. See data/README.md for
source and licence.
"""

import pathlib

import numpy as np
from safetensors.numpy import save_file
from sklearn.datasets import load_digits

HELD_OUT = 384
SEED = 20


def main():
    digits = load_digits()
    order = np.random.RandomState(SEED).permutation(len(digits.target))
    images = (digits.images[order] / 16.0).astype(np.float32)[:, None]
    labels = digits.target[order].astype(np.int64)
    path = pathlib.Path(__file__).parent / "data" / "digits.safetensors"
    held_out = len(labels) - HELD_OUT
    # One entry only: the writer keeps several in no fixed order, and the file should not change.
    metadata = {
        "about": "UCI ML hand-written digits (test part), by way of scikit-learn's load_digits; "
        f"CC-BY-4.0; train rows 0:{held_out}, held-out rows {held_out}:{len(labels)}"
    }
    save_file({"images": np.ascontiguousarray(images), "labels": labels}, path, metadata)
    path.chmod(0o644)
    print(f"wrote {path}: {len(labels)} images, {HELD_OUT} of them held out")


if __name__ == "__main__":
    main()
