# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the device and NVIDIA's libraries can do: copies, and each library call of the models alone;
convolutions by cuDNN's plans, which models have, and by the algorithms of its older interface."""

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
        failures += [f"{line['call']}: {line['wrong']}" for line in found[1:] if "wrong" in line]
        calls = in_pairs(found[1:])
        rows = [row(model.name, both) for both in calls]
        header = ("model", "call", "a step", "fp32 ms", "TFLOP/s", "TF32 ms", "TFLOP/s")
        report.table(header, rows)
        if any("conv" in line["call"] for line in found[1:]):
            failures += compare_interfaces(machine, report, model, calls)
        for compute in ("full", "tf32"):
            lines = [both[compute] for both in calls if "ms" in both.get(compute, {})]
            total = sum(line["ms"] * line["times"] for line in lines)
            report.say(f"{model.name}: library calls of a step, {compute}: {total:.3f} ms")
    for failure in failures:
        report.say("wrong: " + failure)
    return len(failures)


def compare_interfaces(machine, report, model, calls):
    """A table of the model's convolutions by either interface of cuDNN; what went wrong."""
    options = ("--copy-bytes", "0", "--convolutions")
    found, wrong = machine.lines("ceilings", *options, model / "model.so", ACCC_CUDA_PLANS="0")
    older = {both["full"]["call"]: both for both in in_pairs(found[1:])}
    rows = []
    for both in calls:
        call = both["full"]["call"]
        if call in older:
            times = [(each.get(c, {}).get("ms", "-")) for c in ("full", "tf32") for each in (both, older[call])]
            rows.append((model.name, call, both["full"]["times"], *times))
    header = ("model", "convolution", "a step", "fp32 ms, plans", "algorithms", "TF32 ms, plans", "algorithms")
    report.table(header, rows)
    return [f"{model.name}, older interface: {wrong}"] if wrong else []


def in_pairs(lines):
    """For each call {"full": its line, "tf32": its line}; the two come one after the other."""
    calls = []
    for line in lines:
        if not calls or line["compute"] in calls[-1] or line["compute"] == "full":
            calls.append({})
        calls[-1][line["compute"]] = line
    return calls


def row(model, both):
    figures = []
    for compute in ("full", "tf32"):
        line = both.get(compute, {})
        figures += [line.get("ms", "-"), line.get("tflop_per_s", "-")]
    first = next(iter(both.values()))
    return (model, first["call"], first["times"], *figures)
