# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes torch24.pt2 and its like: models of make.py as older versions of PyTorch export and save them.

    python old.py     (with PyTorch 2.4, 2.5, 2.6, ...)
"""

import pathlib
import zipfile

import torch

if not hasattr(torch.export.Dim, "AUTO"):  # before 2.6
    torch.export.Dim.AUTO = None

from models import CASES, tidy, with_loss  # noqa: E402

HERE = pathlib.Path(__file__).parent
KEPT = ("stopped", "parts", "cnn", "language", "recurrent", "indexed", "located", "written")
FIXED = ("language", "written")
"""Before 2.6, PyTorch takes their batch for fixed. It does not export the last with 2.4."""


def main():
    name = "torch" + "".join(torch.__version__.split(".")[:2])
    for case in KEPT[:-1] if name == "torch24" else KEPT:
        build, inputs, dynamic, _ = CASES[case]
        torch.manual_seed(0)
        path = HERE / case / f"{name}.pt2"
        if case in FIXED and name < "torch26":
            dynamic = None
        program = torch.export.export(with_loss(build().train()), (), kwargs=inputs, dynamic_shapes=dynamic)
        torch.export.save(program, path)
        tidy(path, zipfile.ZIP_DEFLATED)
        print(case)


if __name__ == "__main__":
    main()
