# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the device and NVIDIA's libraries can do: copies, and each library call of the models alone."""

from machine import Skip, folders

LARGE = 17 << 30  # bytes: the stand-in and small devices copy less than 1 GiB


def run(machine, report, options):
    try:
        models = folders(options.directory, "models", options.models)
    except Skip as reason:
        report.say(f"no library calls: {reason}")
        models = []
    size = 1 << 30 if machine.device["memory_bytes"] > LARGE else 1 << 20
    copies, wrong = machine.lines("ceilings", "--copy-bytes", size)
    failures = [wrong] if wrong else []
    report.table(("property", "value"), list(copies[0].items()) if copies else [])
    rows = [(x["copy"], x["bytes"] / 2**20, x["ms"], x["tb_per_s"]) for x in copies[1:]]
    report.table(("copy", "MiB", "ms", "TB/s, read and written"), rows)
    for model in models:
        found, wrong = machine.lines("ceilings", "--copy-bytes", "0", model / "model.so")
        failures += [f"{model.name}: {wrong}"] if wrong else []
        calls = {}
        for line in found[1:]:
            failures += [f"{line['call']}: {line['wrong']}"] if "wrong" in line else []
            calls.setdefault((line["call"], line["times"]), {})[line["compute"]] = line
        rows = [row(model.name, *key, both) for key, both in calls.items()]
        header = ("model", "call", "a step", "fp32 ms", "TFLOP/s", "TF32 ms", "TFLOP/s")
        report.table(header, rows)
        for compute in ("full", "tf32"):
            times = [both[compute]["ms"] * n for (_, n), both in calls.items() if "ms" in both.get(compute, {})]
            report.say(f"{model.name}: library calls of a step, {compute}: {sum(times):.3f} ms")
    for failure in failures:
        report.say("wrong: " + failure)
    return len(failures)


def row(model, call, times, both):
    figures = []
    for compute in ("full", "tf32"):
        line = both.get(compute, {})
        figures += [line.get("ms", "-"), line.get("tflop_per_s", "-")]
    return (model, call, times, *figures)
