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
import judging
import known
import modules
import precision as precisions
import samples as sampling
import targets
from workers import each_result

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOGETHER = 32  # samples in one module
OPERATORS = 8  # in one task
SECONDS = 900  # for a task, which ends what it has begun


def everything():
    """What can be swept, by name."""
    return {**sampling.operators(), **modules.modules()}


def check_operators(task):
    """A row for each sample of some operators or modules, many of which make one module."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # PyTorch's exporters say much
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    task.end = time.monotonic() + SECONDS
    with tempfile.TemporaryDirectory() as folder:
        return [
            row(*x, *found, task)
            for batch in batches([x for name in task.names for x in samples_of(name, task)])
            for x, found in zip(batch, judging.judge([part for _, _, part in batch], task, pathlib.Path(folder)))
        ]


def row(operator, kind, part, verdict, message, task):
    if verdict == "wrong" and (why := known.difference(operator, message, task)):
        verdict, message = "known", why
    return {"operator": operator, "kind": kind, "sample": part.text[:300], "verdict": verdict, "message": message}


def samples_of(name, task):
    """All samples of an operator or a module, with its name and their kind; nothing of an operator of which PyTorch can make
    none here (sparse tensors, say)."""
    what, dtype = everything()[name], task.dtype
    try:
        if name in modules.modules():
            found = modules.module_samples(what, dtype, task.samples)
        else:
            found = sampling.operator_samples(what, dtype, task.samples, task.beside)
        return [(name, kind, part) for kind, parts in found for part in parts]
    except Exception:
        return []


def batches(samples):
    return [samples[i : i + TOGETHER] for i in range(0, len(samples), TOGETHER)]


def main(text):
    parser = argparse.ArgumentParser(description=text.split("\n")[0])
    parser.add_argument("--operators", default="", metavar="REGEX", help="only those whose name in OpInfo contains it")
    parser.add_argument("--format", default="export", choices=[name for name in checking.FORMATS if name != "scripted"])
    parser.add_argument("--dtype", default=torch.float32, type=lambda name: getattr(torch, name), help="float32 (default), int64, ...")
    parser.add_argument("--beside", type=lambda name: getattr(torch, name), metavar="DTYPE", help="every second tensor is of this type")
    parser.add_argument("--precision", default="fp32", choices=precisions.NAMES, help="mixed: bf16 or fp16, beside torch.autocast")
    parser.add_argument("--samples", type=int, default=32, help="at most so many of each operator")
    parser.add_argument("--target", default="cpu", choices=targets.NAMES, help=targets.HELP)
    parser.add_argument("--limit", type=float, default=20, metavar="SECONDS", help="for each sample in a run of a library")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--accc", type=pathlib.Path, default=ROOT / "build/bin/accc")
    parser.add_argument("--results", type=pathlib.Path, help="a JSON file of all rows")
    options = parser.parse_args()
    if options.precision != "fp32" and options.dtype != torch.float32:
        parser.error("--precision is for operators in float32")
    options.precision = precisions.Precision(options.precision)
    options.target = targets.find(options.target, options.accc)
    candidates = everything() if options.beside is None else sampling.operators()
    names = [n for n, info in candidates.items() if re.search(options.operators, n) and options.dtype in info.dtypes]
    tasks = [argparse.Namespace(**vars(options), names=names[i : i + OPERATORS]) for i in range(0, len(names), OPERATORS)]
    rows = []
    for found in each_result(check_operators, tasks, options.jobs, tasks_per_process=4):
        rows += found
        report(found)
    counts = collections.Counter(row["verdict"] for row in rows)
    print(f"{len({row['operator'] for row in rows})} operators, {len(rows)} samples: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common()))
    if options.results:
        options.results.write_text("".join(json.dumps(row) + "\n" for row in rows))
    raise SystemExit(1 if counts["wrong"] or counts["crash"] else 0)


def report(rows):
    """A line for each verdict of an operator but right ones, with its first sample and message."""
    same = {}
    for row in rows:
        same.setdefault((row["operator"], row["kind"], row["verdict"]), []).append(row)
    for (operator, kind, verdict), found in same.items():
        if verdict != "right":
            first = found[0]
            print(f"{operator} ({kind}): {len(found)} {verdict}, as ({first['sample'][:100]}): {first['message'][:300]}", flush=True)
