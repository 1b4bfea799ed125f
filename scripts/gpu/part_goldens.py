# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The golden models: what PyTorch gave (loss, gradients, parameters after the steps), and the same bits
from every run, with and without a CUDA graph, from machine code and from PTX."""

import json
import re

from machine import Failed, folders
from precisions import packed_in

NEVER = "-"
SAID = {"tf32": " (TF32)", "bf16-attention": " (masks in cuDNN's attention)", "bf16-products": " (attention in products)"}
TOLERANCES = {"tf32": ("--tolerance", "1e-2")}
"""Options of the comparison: docs/correctness.md has the tolerance of TF32; goldens in bf16 have their own."""


def run(machine, report, options):
    rows, wrong = [], 0
    try:
        for folder in folders(options.directory, "goldens", options.models):
            for precision, library in packed_in(folder).items():
                row, bad = check(machine, folder, precision, library, options.arch)
                rows.append(row)
                wrong += bad
    finally:
        header = ("model", "tensors that agree", "two runs", "without graph", "with branches", "from PTX", "remark")
        report.table(header, rows)
    return wrong


def check(machine, folder, precision, library, arch):
    """The table's row, and whether something is wrong."""
    compared = ("diff", library, folder, "--failed", *TOLERANCES.get(precision, ()))
    code, output, errors = machine.runner(*compared, check=False)
    found = re.search(r"(\d+) of (\d+) tensors pass", output)
    agree = f"{found[1]} of {found[2]}" if found else "none"
    bad = re.search(r"first bad tensor: .*", output)
    remarks = [bad[0] if bad else (errors.strip().splitlines() or ["failed"])[-1]] if code else []
    same = []
    try:
        first = train(machine, folder, library)
        ways = [{}, {"ACCC_CUDA_GRAPH": "0"}, {"ACCC_CUDA_BRANCHES": "1"}]
        ways += [] if arch else [{"ACCC_ARCH": "compute_80"}]
        for way in ways:
            same.append("same bits" if train(machine, folder, library, **way) == first else "OTHER BITS")
    except Failed as reason:
        remarks.append(str(reason))
    same += [NEVER] * (4 - len(same))
    # The driver's own compiler makes the code from PTX: other bits are worth a remark, not a failure.
    wrong = bool(remarks) or "OTHER BITS" in same[:3]
    return (folder.name + SAID.get(precision, ""), agree, *same, "; ".join(remarks)), wrong


def train(machine, folder, library, **environment):
    """What the steps of the goldens leave: the bytes of the last outputs, the losses, the parameters."""
    meta = json.loads((folder / "meta.json").read_text())
    files = [machine.scratch / name for name in ("out.safetensors", "params.safetensors")]
    machine.runner(
        "run", library, "--entry", "train_step", "--steps", meta["steps"],
        "--inputs", folder / "inputs.safetensors", "--lr", meta["lr"],
        "--outputs", files[0], "--save-params", files[1], **environment,
    )  # fmt: skip
    return [file.read_bytes() for file in files]
