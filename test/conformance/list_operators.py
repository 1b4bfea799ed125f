#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes onnx_operators.txt from the schemas of the Python package onnx (not needed by any test).

    test/conformance/list_operators.py OPSET > test/conformance/onnx_operators.txt

OPSET is the newest version of the standard operators that accc knows (kNewestOpset).
"""

import collections
import sys

from onnx import defs

HEAD = """\
# The operators of ONNX up to opset {opset}, one a line: domain, name, the versions that changed it, the names of
# its inputs in the newest of them. Written by list_operators.py.
"""


def main():
    newest = int(sys.argv[1])
    schemas = collections.defaultdict(dict)
    for schema in defs.get_all_schemas_with_history():
        if schema.domain != "" or schema.since_version <= newest:
            schemas[schema.domain or "ai.onnx", schema.name][schema.since_version] = schema
    print(HEAD.format(opset=newest), end="")
    for (domain, name), versions in sorted(schemas.items()):
        inputs = ",".join(entry.name for entry in versions[max(versions)].inputs)
        print(domain, name, ",".join(map(str, sorted(versions))), inputs or "-")


if __name__ == "__main__":
    main()
