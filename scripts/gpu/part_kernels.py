# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Samples of the kernel tests: the device's bits against those of the PTX interpreter.

A kernel without approximate instructions must give the same bits. One with them, and products that a
library sums up in its own order, must come close. How close is asked of a tensor as a whole: where
approximate values cancel, single elements are far apart by their own size.
"""

from machine import folders

APPROXIMATE = 8
"""Roundings of the type: ulps of each element, or of the root mean square by RMSE."""
AT_ONCE = 50  # folders a process


def run(machine, report, options):
    pending = folders(options.directory, "samples", None)
    lines, wrong = [], []
    try:
        while pending:
            found, ended = machine.lines("samples", *pending[:AT_ONCE])
            lines += [line for line in found if "entry" in line]
            machine.left()  # what the time limit has cut short is not wrong
            begun = [line["folder"] for line in found if "entry" not in line]
            if ended:  # the folder at which the process ended is at fault; what follows is run anew
                wrong.append((begun[-1] if begun else str(pending[0]), "", "", ended))
                pending = pending[max(1, len(begun)) :]
            else:
                pending = pending[AT_ONCE:]
    finally:
        summarise(report, lines, wrong)
    return len(wrong)


def why_wrong(line):
    if line["wrong"] or not line["differing"]:
        return line["wrong"]
    how = f"{line['differing']} of {line['elements']} elements differ, by {line['ulps']} ulp at most, "
    how += f"relative RMSE {line['relative']:.1e}"
    if line["library_calls"]:
        return "" if line["excess"] <= 1 else how
    return "" if line["approximate"] and min(line["ulps"], line["roundings"]) <= APPROXIMATE else how


def summarise(report, lines, wrong):
    tests = {}
    for line in lines:
        row = tests.setdefault(line["test"], [0, 0, 0, 0, 0])
        row[0] += 1
        row[1] += line["kernels"]
        if reason := why_wrong(line):
            row[4] += 1
            folder = line["folder"].rsplit("/", 1)[-1]
            wrong.append((folder, line["entry"], line["test"], reason))
        elif line["differing"]:
            row[3] += 1
        else:
            row[2] += 1
    header = ("test", "samples", "kernels", "same bits", "close", "wrong")
    report.table(header, [(test, *row) for test, row in tests.items()])
    close = [x for x in lines if x["differing"] and not why_wrong(x)]
    approximate = [x for x in close if not x["library_calls"]]
    ulps = max((x["ulps"] for x in approximate), default=0)
    roundings = max((x["relative"] for x in approximate), default=0.0)
    relative = max((x["relative"] for x in close if x["library_calls"]), default=0.0)
    report.say(
        f"{len(lines)} samples on {', '.join(sorted({x['arch'] for x in lines})) or 'nothing'}; close: "
        f"approximate kernels by {roundings:.1e} (relative RMSE; an element by {ulps} ulp at most), "
        f"library calls by {relative:.1e}"
    )
    report.table(("folder", "entry", "test", "wrong"), wrong[:100])
