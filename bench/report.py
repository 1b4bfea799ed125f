# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is written of the measurements: JSON with all of them, a CSV row a contender, Markdown."""

import csv
import json
import pathlib
import platform
import statistics

LOSS_TOLERANCE = 1e-3
STEPS = 100
TITLES = {
    "accc": "accc",
    "eager": "eager",
    "eager-cl": "eager, channels last",
    "compile": "torch.compile",
    "compile-cl": "torch.compile, channels last",
    "jax": "JAX",
}


def machine(threads):
    """The processor as the system names it, its cores, its memory and the threads used."""
    facts = {}
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        facts.setdefault(key.strip(), value.strip())
    memory = pathlib.Path("/proc/meminfo").read_text().split()[1]
    return {
        "processor": facts.get("model name", platform.processor()),
        "family": facts.get("cpu family"),
        "cores": platform.os.cpu_count(),
        "memory_gb": round(int(memory) / 1e6, 1),
        "threads": threads,
        "kernel": platform.release(),
    }


def medians(entry):
    return [figures["median_ms"] for figures in entry["rounds"]]


def ratios(entry, accc):
    """Of every round: how many times as long as accc's a step of the contender takes."""
    return [other / own for other, own in zip(medians(entry), medians(accc))]


def disagreements(results):
    """The contenders whose first loss is not PyTorch eager's (or, without it, accc's)."""
    found = []
    for model in results["models"]:
        entries = model["contenders"]
        expected = entries.get("eager", {}).get("loss", entries.get("accc", {}).get("loss"))
        if expected is None or "dropout" in model["model"]:
            continue
        for kind, entry in entries.items():
            loss = entry.get("loss")
            if loss is not None and abs(loss - expected) > LOSS_TOLERANCE * abs(expected):
                found.append(f"{model['model']}: {kind} has loss {loss:.6g}, not {expected:.6g}")
    return found


def rows(results):
    """One flat row for each model and contender."""
    for model in results["models"]:
        accc = model["contenders"].get("accc", {"rounds": []})
        for kind, entry in model["contenders"].items():
            row = {"model": model["model"], "config": model["config"], "contender": kind}
            for key in ("version", "compile_s", "memory", "planned", "loss", "failed"):
                row[key] = entry.get(key)
            if entry["rounds"]:
                row["median_ms"] = statistics.median(medians(entry))
                row["least_ms"], row["most_ms"] = min(medians(entry)), max(medians(entry))
                row["p10_ms"] = statistics.median(r["p10_ms"] for r in entry["rounds"])
                row["p90_ms"] = statistics.median(r["p90_ms"] for r in entry["rounds"])
                if accc["rounds"]:
                    own = ratios(entry, accc)
                    row["ratio"], row["least_ratio"] = statistics.median(own), min(own)
                    row["most_ratio"] = max(own)
            yield row


def number(value, digits=3):
    """Three significant digits, without an exponent."""
    if value is None:
        return "–"
    text = f"{value:.{digits}g}"
    return text if "e" not in text else f"{value:.0f}"


def cell(row):
    if row is None:
        return "–"
    if row.get("failed"):
        return "failed"
    if row.get("median_ms") is None:
        return "–"
    text = number(row["median_ms"])
    if row["contender"] != "accc" and row.get("ratio") is not None:
        text += f" ({row['ratio']:.2f}×)"
    return text


def mean_ratio(flat, kind):
    """The geometric mean of the ratios to accc, over the models that the contender has done."""
    own = [row["ratio"] for row in flat if row["contender"] == kind and row.get("ratio")]
    return f"({statistics.geometric_mean(own):.2f}×)" if own and kind != "accc" else "–"


def time_to_steps(row):
    if row is None or row.get("median_ms") is None:
        return "–"
    return number((row["compile_s"] or 0) + STEPS * row["median_ms"] / 1e3)


def table(header, lines):
    yield "| " + " | ".join(header) + " |"
    yield "| --- |" + " ---: |" * (len(header) - 1)
    for line in lines:
        yield "| " + " | ".join(line) + " |"


def markdown(results):
    flat = list(rows(results))
    kinds = [kind for kind in TITLES if any(row["contender"] == kind for row in flat)]
    models = [model["model"] for model in results["models"]]
    by = {(row["model"], row["contender"]): row for row in flat}
    header = ["model"] + [TITLES[kind] for kind in kinds]

    def each(function):
        return ([name] + [function(by.get((name, kind))) for kind in kinds] for name in models)

    def seconds(row):
        return number(row and row["compile_s"])

    def megabytes(row):
        if not row or row["memory"] is None:
            return "–"
        text = f"{row['memory'] / 1e6:.0f}"
        return text + f" ({row['planned'] / 1e6:.0f} planned)" if row["planned"] else text

    yield "Step time in ms, median of rounds (and how many times accc's it is, median of rounds' ratios):\n"
    yield from table(
        header, [*each(cell), ["geometric mean"] + [mean_ratio(flat, k) for k in kinds]]
    )
    yield "\nCold compile in s (for torch.compile and JAX the first step):\n"
    yield from table(header, each(seconds))
    yield f"\nFrom the model file to the end of step {STEPS}, compile included, in s:\n"
    yield from table(header, each(time_to_steps))
    yield "\nMemory while stepping in MB, beyond that of the process before it had the model:\n"
    yield from table(header, each(megabytes))
    yield ""
    versions = {row["contender"]: row["version"] for row in flat if row["version"]}
    yield "Versions: " + ", ".join(f"{TITLES[k]} {v}" for k, v in versions.items()) + "."
    probes = [probe for model in results["models"] for probe in model["probes"]]
    for key, what in (("fma_gflops", "GFLOP/s of fp32 FMA"), ("triad_gbs", "GB/s of triad")):
        values = sorted(probe[key] for probe in probes)
        if values:
            middle = statistics.median(values)
            yield f"Probe: {middle:.0f} {what} ({values[0]:.0f} to {values[-1]:.0f})."
    for row in flat:
        if row["failed"]:
            yield f"Failed: {row['model']}, {TITLES[row['contender']]}: {row['failed']}"
    for problem in disagreements(results):
        yield f"Disagreement: {problem}"


def write(results, out):
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    flat = list(rows(results))
    keys = list(dict.fromkeys(key for row in flat for key in row))
    with (out / "results.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, keys)
        writer.writeheader()
        writer.writerows(flat)
    (out / "results.md").write_text("\n".join(markdown(results)) + "\n")
