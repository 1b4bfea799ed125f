#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A test that waits for another process has a time limit: it fails instead of hanging.

    test/style/limits.py [ROOT]

Looks at the Python of test/. Not at test/run.py: what it starts is ctest, which limits every suite.
"""

import ast
import pathlib
import sys

STARTS = {"run", "call", "check_call", "check_output"}  # of subprocess
WAITS = {"wait", "communicate"}  # of a process


def problems_of(text):
    """(line, what) of each call that may wait forever."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner, name = node.func.value, node.func.attr
        starts = isinstance(owner, ast.Name) and owner.id == "subprocess" and name in STARTS
        if (starts or name in WAITS) and all(keyword.arg != "timeout" for keyword in node.keywords):
            yield node.lineno, f"{name}() without a timeout"


def check(root):
    count = 0
    for path in sorted((root / "test").rglob("*.py")):
        if path == root / "test" / "run.py":
            continue
        for line, problem in problems_of(path.read_text()):
            print(f"{path.relative_to(root).as_posix()}:{line}: {problem}")
            count += 1
    return count


if __name__ == "__main__":
    default = pathlib.Path(__file__).resolve().parents[2]
    sys.exit(1 if check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default) else 0)
