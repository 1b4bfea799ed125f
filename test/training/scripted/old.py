# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes `old.pt` of some cases: the modules of make.py as an older PyTorch saves them (it cannot script Control).

    python old.py     (with PyTorch 1.13)
"""

import pathlib
import zipfile

import torch

import modules

HERE = pathlib.Path(__file__).parent


def tidy(path):
    """Writes the archive again, small, without what names folders of this machine."""
    with zipfile.ZipFile(path) as archive:
        records = {name: archive.read(name) for name in archive.namelist() if not name.endswith(".debug_pkl")}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in records.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


def main():
    for case in (modules.State, modules.Sequence):
        torch.manual_seed(0)
        path = HERE / case.__name__.lower() / "old.pt"
        torch.jit.save(torch.jit.script(case().train()), path)
        tidy(path)


if __name__ == "__main__":
    main()
