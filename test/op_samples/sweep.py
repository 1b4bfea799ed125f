# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the samples of many operators, and reports what was found."""

import argparse
import collections
import json
import os
import pathlib
import re
import tempfile
import time
import warnings

import torch

import checking
import known
import modules
import samples as sampling
import targets
from workers import each_result

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOGETHER = 8  # samples in one module
SECONDS = 300  # for an operator


def judge(parts, task, folder):
    """A verdict and a message for each of some samples, checked together; in halves where not all of them are right."""
    try:
        compiler = checking.Compiler(task.accc, task.target, task.limit * len(parts))
        wrong = checking.check(sampling.Samples(parts), task.format, compiler, folder)
        verdict, message = ("wrong" if wrong else "right"), "\n".join(wrong)
    except checking.NoExport as error:
        verdict, message = "no export", str(error)
    except checking.Refused as error:
        verdict, message = "refused", str(error)
    except checking.Crash as error:
        verdict, message = "crash", str(error)
    except checking.TooSlow as error:
        verdict, message = "too slow", str(error)
    except Exception as error:
        verdict, message = "no reference", f"{type(error).__name__}: {str(error)[:300]}"
    if verdict == "right" or len(parts) == 1:
        return [(part, verdict, message) for part in parts]
    half = len(parts) // 2
    return judge(parts[:half], task, folder) + judge(parts[half:], task, folder)


def everything():
    """What can be swept, by name."""
    return {**sampling.operators(), **modules.modules()}


def check_operator(task):
    """A row for each sample of an operator or a module."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # PyTorch's exporters say much
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    info, rows, end = everything()[task.operator], [], time.monotonic() + SECONDS
    samples_of = modules.module_samples if task.operator in modules.modules() else sampling.operator_samples
    with tempfile.TemporaryDirectory() as folder:
        for kind, samples in given(samples_of, info, task):
            for parts in batches(samples):
                late = time.monotonic() > end
                judged = [(x, "not run", f"the operator took {SECONDS} s") for x in parts] if late else judge(parts, task, pathlib.Path(folder))
                for part, verdict, message in judged:
                    if verdict == "wrong" and (why := known.difference(task.operator, message)):
                        verdict, message = "known", why
                    rows.append({"operator": task.operator, "kind": kind, "sample": part.text[:300], "verdict": verdict, "message": message})
    return rows


def given(samples_of, info, task):
    """All samples by kind; nothing of an operator of which PyTorch can make none here (sparse tensors, say)."""
    try:
        return list(samples_of(info, task.dtype, task.samples))
    except Exception:
        return []


def batches(samples):
    return [samples[i : i + TOGETHER] for i in range(0, len(samples), TOGETHER)]


def main(text):
    parser = argparse.ArgumentParser(description=text.split("\n")[0])
    parser.add_argument("--operators", default="", metavar="REGEX", help="only those whose name in OpInfo contains it")
    parser.add_argument("--format", default="export", choices=[name for name in checking.FORMATS if name != "scripted"])
    parser.add_argument("--dtype", default=torch.float32, type=lambda name: getattr(torch, name), help="float32 (default), int64, ...")
    parser.add_argument("--samples", type=int, default=32, help="at most so many of each operator")
    parser.add_argument("--target", default="cpu", choices=targets.NAMES, help="cuda: the stand-in for a GPU runs the libraries")
    parser.add_argument("--limit", type=float, default=20, metavar="SECONDS", help="for each sample in a run of a library")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--accc", type=pathlib.Path, default=ROOT / "build/bin/accc")
    parser.add_argument("--results", type=pathlib.Path, help="a JSON file of all rows")
    options = parser.parse_args()
    options.target = targets.find(options.target, options.accc)
    names = [n for n, info in everything().items() if re.search(options.operators, n) and options.dtype in info.dtypes]
    tasks = [argparse.Namespace(**{**vars(options), "operator": name}) for name in names]
    rows = []
    for found in each_result(check_operator, tasks, options.jobs, tasks_per_process=20):
        rows += found
        report(found)
    counts = collections.Counter(row["verdict"] for row in rows)
    print(f"{len({row['operator'] for row in rows})} operators, {len(rows)} samples: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common()))
    if options.results:
        options.results.write_text("".join(json.dumps(row) + "\n" for row in rows))
    raise SystemExit(1 if counts["wrong"] or counts["crash"] else 0)


def report(rows):
    """A line for each verdict of an operator but right ones, with its first sample and message."""
    first = {}
    for row in rows:
        first.setdefault((row["kind"], row["verdict"]), row)
    for (kind, verdict), row in first.items():
        if verdict != "right":
            count = sum(other["verdict"] == verdict and other["kind"] == kind for other in rows)
            print(f"{row['operator']} ({kind}): {count} {verdict}, as ({row['sample'][:100]}): {row['message'][:300]}", flush=True)
