# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs random attentions through accc with calls of a library, and compares them with PyTorch's."""

import argparse
import collections
import dataclasses
import json
import pathlib
import random
import sys
import tempfile
import warnings

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "op_samples")]

import checking  # noqa: E402
import precision as precisions  # noqa: E402
import targets  # noqa: E402
import variants  # noqa: E402
from workers import each_result  # noqa: E402

# Of a tensor's size and a tenth of that of the greatest gradient, element for element: what 16 bits make of products and of
# softmax stays below, and another scale, mask or head does not. A rounding to float16 is an eighth of one to bfloat16.
RELATIVE, OF_GREATEST = {"bf16": 0.1, "fp16": 0.0125}, 0.1


def check(task):
    seed, options = task
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    torch.manual_seed(seed)
    variant = variants.draw(random.Random(seed))
    module = variants.Attention(variant)
    with tempfile.TemporaryDirectory() as name:
        return seed, *judge(module, options, pathlib.Path(name)), variant


def judge(module, options, folder):
    """A verdict, a message, and how often a library's attention is called."""
    expected = gradients(module)
    if not all(x.isfinite().all() for x in expected.values()):
        return "no number", "", 0
    library = "--library-attention" if options.masked else "-q"
    target = dataclasses.replace(options.target, options=(*options.target.options, library))
    compiler = checking.Compiler(options.accc, target, options.limit, precision=precisions.Precision(options.precision))
    try:
        path = folder / f"model{checking.FORMATS[options.format]}"
        checking.write(module, options.format, path)
        found = checking.found_by_accc(module, options.format, path, compiler, folder)
    except checking.Unjudged as error:
        return error.verdict, str(error), 0
    wrong = compare(found, expected, RELATIVE[options.precision])
    return "wrong" if wrong else "right", "\n".join(wrong), calls(folder / "model.json")


def gradients(module):
    loss = module(**module.inputs)["loss"]
    found = torch.autograd.grad(loss, list(module.parameters()), allow_unused=True)
    named = zip([name for name, _ in module.named_parameters()], found)
    return {"loss": loss.detach()} | {f"grad.{name}": x for name, x in named if x is not None}


def compare(found, expected, relative):
    each = lambda x: x.norm().item() / x.numel() ** 0.5  # noqa: E731
    greatest = max(each(x) for name, x in expected.items() if name != "loss")
    lines = []
    for name, x in expected.items():
        if name not in found and x.any():
            lines.append(f"{name} is not there")
        elif name in found:
            distance = each(found[name] - x) / (each(x) + (0.5 if name == "loss" else OF_GREATEST * greatest))
            if not distance < relative:
                lines.append(f"{name} is off by {distance:.3f}")
    return lines


def calls(report):
    steps = next(entry["steps"] for entry in json.loads(report.read_text())["entries"] if entry["name"] == "grad_step")
    return sum("attention" in step.get("library_call", "") for step in steps)


def main(text):
    parser = argparse.ArgumentParser(description=text.split("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--format", default="export", choices=("export", "traced", "onnx"))
    parser.add_argument("--precision", default="bf16", choices=tuple(precisions.TYPES))
    parser.add_argument("--masked", action="store_true", help="with --library-attention: calls for masks of padding, too")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="for a run of a library")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--accc", type=pathlib.Path, default=ROOT / "build/bin/accc")
    options = parser.parse_args()
    options.target = targets.find("cuda", options.accc)
    counts, called = collections.Counter(), 0
    tasks = [(seed, options) for seed in range(options.seed, options.seed + options.count)]
    for seed, verdict, message, number, variant in each_result(check, tasks, options.jobs, tasks_per_process=50):
        counts[verdict] += 1
        called += verdict == "right" and number > 0
        if verdict in ("wrong", "crash", "refused"):
            print(f"{verdict}, seed {seed}: {message[:600]}\n  {variant}", flush=True)
    print(f"{options.count} attentions: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common()) + f"; {called} of them right as calls")
    raise SystemExit(1 if counts["wrong"] or counts["crash"] or counts["refused"] else 0)
