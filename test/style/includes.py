#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds every #include to the order of folders: includes point down only.

    test/style/includes.py [ROOT]

Prints each include that points up or sideways and ends with 1 if there are any.
"""

import pathlib
import re
import sys

# What the files of a folder may include beside their own folder, first match wins. The names are those
# of the folders under lib/; `accc` is include/accc, of which the compiler may use the ABI alone.
ABI = ["accc/abi.h", "accc/cpu_features.h", "accc/custom_op.h"]
STAGES = ["frontend", "training", "transforms", "layout", "fusion", "budget", "schedule", "codegen", "reference"]
MAY_INCLUDE = [
    ("include/accc", []),
    ("lib/runtime/data", ["accc"]),
    ("lib/runtime/core", ["data", "accc"]),
    *[(f"lib/runtime/{target}", ["core", "data", "accc"]) for target in ("cpu", "cuda", "distributed")],
    ("lib/reference/ptx", []),  # also part of a stand-in for the driver library, without the compiler
    ("lib/driver", ["debug"] + STAGES + ["target", "ir", "support", "accc"]),
    ("lib/debug", STAGES + ["target", "ir", "support", "accc"]),
    ("lib/codegen/element", ["target", "ir", "support", *ABI]),
    ("lib/codegen/math", ["support"]),
    ("lib/codegen/kernel", ["codegen/element", "codegen/math", "target", "ir", "support", *ABI]),
    *[(f"lib/codegen/{part}", ["codegen/kernel", "codegen/element", "codegen/host", "codegen/Generate.h",
                               "target", "ir", "support", *ABI]) for part in ("host", "cpu", "cuda")],
    ("lib/budget", ["fusion", "schedule", "target", "ir", "support"]),  # asks the plan what kernels take
    *[(f"lib/{stage}", ["target", "ir", "support", *ABI]) for stage in STAGES],
    ("lib/target", ["ir", "support", *ABI]),
    ("lib/ir/nn", ["ir/prim", "ir/interfaces", "support"]),
    ("lib/ir/exec", ["ir/prim", "ir/interfaces", "support"]),
    ("lib/ir/prim", ["ir/interfaces", "support", *ABI]),
    ("lib/ir/interfaces", ["support"]),
    ("lib/support", []),
    ("tools/accc", ["driver", "support", "accc"]),  # the driver is all of the compiler that it sees
    ("examples", ["accc"]),
]
SUFFIXES = {".h", ".cpp", ".c", ".td", ".def", ".inc"}
INCLUDE = re.compile(r'^\s*#?include\s+["<]([^">]+)[">]')
COMPILER = ["driver", "debug", *STAGES, "target", "ir", "support"]
RUNTIME = ["core", "cpu", "cuda", "data", "distributed"]


def below(path, folder):
    return path == folder or path.startswith(folder + "/")


def folder_of(included):
    """The repository's file that an include names, from its root; None for everything else."""
    if below(included, "accc"):
        return "include/" + included
    if included.split("/")[0] in COMPILER and "/" in included:
        return "lib/" + included
    if included.split("/")[0] in RUNTIME and "/" in included:
        return "lib/runtime/" + included
    return None


def violations_of(name, text):
    """(line number, included, why) of each include of the file `name` that is against the order."""
    rule = next(((folder, allowed) for folder, allowed in MAY_INCLUDE if below(name, folder)), None)
    if rule is None:
        return
    folder, allowed = rule
    alone = folder in ("include/accc", "examples", "lib/reference/ptx") or below(folder, "lib/runtime")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        included = match.group(1)
        if alone and included.split("/")[0] in ("mlir", "llvm"):
            yield number, included, f"{folder} stands without LLVM"
        target = folder_of(included)
        if target is None or below(target, folder):
            continue
        if not any(below(included, may) for may in allowed):
            yield number, included, f"{folder} may include {', '.join(allowed) or 'nothing of ours'}"


def check(root):
    """Prints the violations below `root`; returns how many there are."""
    count = 0
    for top in ("include", "lib", "tools", "examples"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            name = path.relative_to(root).as_posix()
            for number, included, why in violations_of(name, path.read_text()):
                print(f'{name}:{number}: includes "{included}", but {why}')
                count += 1
    return count


if __name__ == "__main__":
    default = pathlib.Path(__file__).resolve().parents[2]
    sys.exit(1 if check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default) else 0)
