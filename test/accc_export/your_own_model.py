#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does what docs/your-own-model.md says, in an empty folder, against an installed accc.

    your_own_model.py ACCC

Files of the page are written, its commands run in order; ACCC is the tool of a build folder. Needs PyTorch, and what it
needs is taken as installed: nothing is downloaded.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "your-own-model.md"
SECONDS = 600
BLOCK = re.compile(r"(?:^`(?P<file>[\w.]+)`:\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def run(command, folder, environment):
    print(f"$ {command}", flush=True)
    done = subprocess.run(["bash", "-e", "-c", command], cwd=folder, env=environment, timeout=SECONDS)
    if done.returncode:
        sys.exit(f"failed with {done.returncode}: {command}")


def main():
    build = pathlib.Path(sys.argv[1]).resolve().parents[1]
    with tempfile.TemporaryDirectory(prefix="accc-your-own-model-") as name:
        scratch = pathlib.Path(name)
        work, prefix, site = scratch / "work", scratch / "prefix", scratch / "site"
        work.mkdir()
        command = ["cmake", "--install", build, "--prefix", prefix]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=SECONDS)
        path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), str(prefix / "bin"), os.environ["PATH"]])
        environment = os.environ | {"PATH": path, "PREFIX": str(prefix), "PYTHONPATH": str(site)}
        # pip may take nothing from a network, and leaves the Python that runs this as it is.
        environment |= {"PIP_TARGET": str(site), "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}
        blocks = list(BLOCK.finditer(PAGE.read_text()))
        assert {"python", "cpp", "cmake", "sh"} == {block["language"] for block in blocks}, blocks
        for block in blocks:
            if block["language"] != "sh":
                assert block["file"], f"a block of {PAGE.name} has no file name: {block['text'][:100]}"
                (work / block["file"]).write_text(block["text"])
                continue
            for line in block["text"].splitlines():
                if not line.startswith("pip install torch"):
                    run(line, work, environment)
        assert (site / "accc_export" / "__init__.py").exists(), "the package was not installed"
    print(f"{PAGE.name} is right")


if __name__ == "__main__":
    main()
