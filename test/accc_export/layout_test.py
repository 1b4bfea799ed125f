#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python package is installed whole, and says what it needs where PyTorch is missing.

    layout_test.py CMAKE BUILD
"""

import ast
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def installed(cmake, build, prefix):
    """The package's files below a prefix that cmake --install fills."""
    command = [cmake, "--install", build, "--prefix", prefix]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=300)
    folder = prefix / "share" / "accc" / "python"
    return folder, {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def main():
    with tempfile.TemporaryDirectory(prefix="accc-python-") as name:
        folder, files = installed(sys.argv[1], sys.argv[2], pathlib.Path(name))
        sources = {f"accc_export/{path.name}" for path in (ROOT / "python" / "accc_export").glob("*.py")}
        expected = sources | {"pyproject.toml", "README.md"}
        assert files == expected, f"installed: {sorted(files ^ expected)} differ"
        project = (folder / "pyproject.toml").read_text()
        oldest = tuple(map(int, re.search(r'requires-python = ">=(\d+)\.(\d+)"', project).groups()))
        for file in sorted(sources):
            ast.parse((folder / file).read_text(), file, feature_version=oldest)
        package = (folder / "accc_export" / "__init__.py").read_text()
        version = re.search(r'^version = "(.*)"$', project, re.MULTILINE).group(1)
        assert f'__version__ = "{version}"' in package, "pyproject.toml and __init__.py name different versions"
        cmake = (ROOT / "CMakeLists.txt").read_text()
        assert f"project(accc VERSION {version} " in cmake, "accc and accc_export have different versions"

        without = "import sys; sys.modules['torch'] = None; sys.modules['onnx'] = None; import accc_export"
        command = [sys.executable, "-c", without]
        done = subprocess.run(command, cwd=folder, stderr=subprocess.PIPE, text=True, timeout=60)
        last = done.stderr.strip().splitlines()[-1]
        assert done.returncode == 1 and "accc_export needs the package onnx: pip install" in last, done.stderr
    print("the package is whole")


if __name__ == "__main__":
    main()
