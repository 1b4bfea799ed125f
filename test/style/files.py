#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds for every stored file: a licence line, a size one can read, no trace of a machine.

    test/style/files.py [ROOT]

Looks at what git stores, or, outside a clone, at all files but build folders.
"""

import pathlib
import re
import subprocess
import sys

LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
# Where a licence line can stand and must.
SOURCES = {".h", ".hpp", ".cpp", ".c", ".td", ".def", ".py", ".cmake", ".mlir"}
SOURCE_NAMES = {"CMakeLists.txt"}
BOUNDED = ("lib/", "tools/", "include/", "examples/", "test/unit/")
MOST_LINES = 500
# Home folders and scratch folders of some machine. Built from parts, so that this file is clean.
MACHINE_PATH = re.compile(
    r"(?<![\w.$}/])/(?:home|Users|root|work|" + r"tmp/(?:wt|bash)|workspace|opt/venv)/[\w.-]+"
)
TEXT_LIMIT = 4 << 20
# Whose type information the compiler, built without, would make a second time; linkers refuse that or drop one of the two.
RUNTIME_ERROR = re.compile(r"(?:catch \(const|throw) (?:accc::)?Error\b")


def stored(root):
    """The names of the files of the repository, from its root."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60
    )
    if listed.returncode == 0 and listed.stdout:
        return [name for name in listed.stdout.decode().split("\0") if name and (root / name).is_file()]
    names = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    return sorted(name for name in names if not name.startswith(("build", ".git/")))


def problems_of(name, data):
    """What is wrong with the file `name` that holds the bytes `data`."""
    path = pathlib.PurePosixPath(name)
    # Goldens and models are checked, too: exporters write the paths of source files into them.
    text = data[:TEXT_LIMIT].decode("utf-8", errors="replace")
    found = MACHINE_PATH.search(text)
    if found:
        yield f"mentions a path of some machine: {found.group(0)}"
    script = data.startswith(b"#!")
    if path.suffix in SOURCES or path.name in SOURCE_NAMES or script:
        if LICENCE not in "\n".join(text.splitlines()[:3]):
            yield f"has no licence line in its first three: {LICENCE}"
    if path.suffix in SOURCES and name.startswith(BOUNDED):
        lines = len(text.splitlines())
        if lines > MOST_LINES:
            yield f"has {lines} lines, more than {MOST_LINES}: look for the second idea in it"
    if name.startswith("lib/") and not name.startswith("lib/runtime/") and RUNTIME_ERROR.search(text):
        yield "names accc::Error where there is no run-time type information: catch std::exception"


def check(root):
    count = 0
    for name in stored(root):
        for problem in problems_of(name, (root / name).read_bytes()):
            print(f"{name}: {problem}")
            count += 1
    return count


if __name__ == "__main__":
    default = pathlib.Path(__file__).resolve().parents[2]
    sys.exit(1 if check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default) else 0)
