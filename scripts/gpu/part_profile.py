# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a step of the full-size models goes: each kernel and library call, with the bytes of its buffers."""

import json

import inputs
from machine import Failed, folders
from precisions import packed_in

ROWS = 30


def run(machine, report, options):
    wrong = 0
    for folder in folders(options.directory, "models", options.models):
        for precision, library in packed_in(folder).items():
            if options.precision and precision not in options.precision:
                continue
            report.say(f"### {folder.name}, {precision}")
            try:
                table(machine, report, folder, library)
            except Failed as reason:
                report.say(f"wrong: {reason}")
                wrong += 1
    return wrong


def bench(machine, folder, library, *more, **environment):
    given = inputs.of(folder, machine.scratch)
    command = ("bench", library, "--json", "--inputs", given, *more)
    return json.loads(machine.runner(*command, **environment)[1])


def table(machine, report, folder, library):
    graph = bench(machine, folder, library, "--seconds", 1)
    branches = bench(machine, folder, library, "--seconds", 1, ACCC_CUDA_BRANCHES="1")
    plain = bench(machine, folder, library, "--seconds", 1, ACCC_CUDA_GRAPH="0")
    # Kernel by kernel, events between them: a little longer than in a graph.
    found = bench(machine, folder, library, "--seconds", 0.5, "--profile")["profile"]
    steps = {}
    for step in found:
        total = steps.setdefault(step["label"], [step["library"], 0, 0.0, 0])
        total[1] += 1
        total[2] += step["ms"]
        total[3] += step["bytes"]
    everything = sum(total[2] for total in steps.values()) or 1.0
    library_ms = sum(total[2] for total in steps.values() if total[0])
    kernel_bytes = sum(total[3] for total in steps.values() if not total[0])
    kernel_ms = everything - library_ms
    report.say(
        f"step {graph['median_ms']:.3f} ms with a graph ({graph['p10_ms']:.3f} to {graph['p90_ms']:.3f}), "
        f"{branches['median_ms']:.3f} ms with one of branches, {plain['median_ms']:.3f} ms without; "
        f"{graph['launches']} kernels {kernel_ms:.3f} ms "
        f"({kernel_bytes / max(kernel_ms, 1e-9) / 1e9:.2f} TB/s), {graph['library_calls']} library calls "
        f"{library_ms:.3f} ms; {(graph['state_bytes'] + graph['working_bytes']) / 1e9:.2f} GB; {graph['arch']}"
    )
    ordered = sorted(steps.items(), key=lambda item: -item[1][2])
    rows = []
    for label, (is_library, count, ms, moved) in ordered[:ROWS]:
        rate = moved / max(ms, 1e-9) / 1e9
        kind = "library" if is_library else "kernel"
        rows.append((label[:70], kind, count, ms, 100 * ms / everything, moved / 1e6, rate))
    header = ("what", "kind", "count", "ms", "% of the step", "MB of its buffers", "TB/s")
    report.table(header, rows)
