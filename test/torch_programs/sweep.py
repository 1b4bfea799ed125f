# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs random programs through accc, and makes those smaller that compute something else than PyTorch."""

import argparse
import collections
import os
import pathlib
import sys
import tempfile
import warnings

import torch
import torch.utils._pytree as pytree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "op_samples")]

import checking  # noqa: E402
import moving  # noqa: E402
import precision as precisions  # noqa: E402
import program as programs  # noqa: E402
import rounding  # noqa: E402
import samples as sampling  # noqa: E402
import scripted  # noqa: E402
import stateful  # noqa: E402
import targets  # noqa: E402
from workers import each_result  # noqa: E402

LOST = {"core": (".detach()", "no_grad()"), "traced": ("no_grad()",)}  # where gradients stop, in formats that do not say
LOST_STATE = {
    "core": (".detach()", "no_grad()", ".data"),
    "traced": ("no_grad()", ".data", "self.b# = ", "self.b#, self.c# = ", "momentum=None"),
    "scripted": ("max_norm",),
    # PyTorch joins no backward pass with writes into parameters, nor with one into a buffer that the backward pass reads, nor these:
    "joint": ("max_norm", "self.w#.clamp_", "self.w#[0] *=", "self.t#.", "x / self.b#", "x ** self.b#", "x * self.b#", "where(self.b#", "masked_fill(self.b#")
    + (".data", "momentum=None", "self.b#, self.c# = "),
    # but for batch norms no state moves
    "onnx": (".detach()", "no_grad()", ".data", "max_norm", "momentum=None", "track_running_stats=True", "self.b#", "self.c#"),
}


PRODUCTS, STEADY = 0.4, 0.1  # of a program in mixed precision: how many lines, and how far autocast moves a tensor at most


def sample(program):
    leaves, spec = pytree.tree_flatten((tuple(program.leaves().values()), {}))
    return sampling.Sample(program.function(), leaves, spec, program.source())


def judge(program, options, folder):
    """A verdict and a message."""
    try:
        compiler = checking.Compiler(options.accc, options.target, options.limit, precision=options.precision)
        if options.state:
            wrong = stateful.check(program, options.format, compiler, folder)
        else:
            wrong = checking.check(made(program, options, folder), options.format, compiler, folder)
        decides = rounding_decides_mixed if options.precision.is_mixed else rounding_decides
        if wrong and decides(program, options, folder, wrong):
            return "rounding", "\n".join(wrong)
        return ("wrong" if wrong else "right"), "\n".join(wrong)
    except checking.Unjudged as error:
        return error.verdict, str(error)
    except RuntimeError as error:  # not all operators have a second derivative
        if options.format != "derived":
            raise
        return "no reference", str(error)


def fits(program, options, folder):
    """Whether the format holds what the last line does, and the precision what it gives."""
    lost = LOST.get(options.format, ())
    if any(text in program.lines[-1] for text in lost) or (options.format == "scripted" and not scripted.is_scriptable(program, folder)):
        return False
    return keeps_steady(program, options)


def made(program, options, folder):
    """The program as a module."""
    return scripted.module(program, folder) if options.format == "scripted" else sampling.Samples([asked(program, options)])


def asked(program, options):
    """What is compared: results, or their derivatives."""
    return sampling.derived(sample(program)) if options.format == "derived" else sample(program)


def rounding_decides(program, options, folder, wrong):
    """Whether PyTorch differs from itself, by the same rule, where values are moved a little."""
    relative = checking.rounding_of([torch.zeros((), dtype=options.dtype)])
    if options.state:
        return rounding.decides(lambda convert: stateful.train(program.make(folder), program.optimizer, convert), lambda g: stateful.train(program.make(folder), program.optimizer, lambda x: rounding.moved(x, g)), relative)
    run = lambda program, convert: checking.reference(sampling.Samples([asked(program, options)]), convert)  # noqa: E731
    return rounding.decides(lambda convert: run(program, convert), lambda g: run(program.moved(lambda x: rounding.moved(x, g)), checking.as_given), relative)


def rounding_decides_mixed(program, options, folder, wrong):
    """The same of what is wrong in mixed precision, where values are moved as far as roundings to 16 bits move them."""
    if options.state:
        module = program.make(folder)
        expected = stateful.mixed_reference(module, program.optimizer, options.precision, options.format)
        return moving.decides(expected, lambda move: stateful.train(module, program.optimizer, move), wrong)
    run = lambda move: checking.reference(sampling.Samples([asked(program.moved(move), options)]), checking.as_given)  # noqa: E731
    return moving.decides(mixed_reference(program, options), run, wrong)


def mixed_reference(program, options):
    module = sampling.Samples([asked(program, options)])
    single, double = (checking.reference(module, convert) for convert in (checking.as_given, checking.in_double))
    return checking.mixed_reference(module, single, double, options.precision, options.format)


def keeps_steady(program, options):
    """Whether, in mixed precision, PyTorch takes the program under autocast, and what rounding moves there it does not move far: no comparison,
    say, comes out otherwise. What this is of modules with state, `rounding_decides_mixed` finds."""
    if options.state or not options.precision.is_mixed:
        return True
    try:
        expected = mixed_reference(program, options)
    except Exception:
        return False
    return all(_is_near(x, expected.double[name]) for name, x in expected.rounded.items())


def _is_near(rounded, exact):
    if not rounded.is_floating_point():
        return torch.equal(rounded.long(), exact.long())
    return bool((rounded - exact).norm() <= STEADY * exact.norm() + checking.ABSOLUTE)


def smaller(program, verdict, options, folder):
    """The program without the lines that do not matter."""
    changed = True
    while changed:
        changed = False
        for index in reversed(range(len(program.lines))):
            shorter = program.without(index)
            if shorter.values() is not None and keeps_steady(shorter, options) and judge(shorter, options, folder)[0] == verdict:
                program, changed = shorter, True
    return program


def check(task):
    seed, options = task
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # PyTorch's exporters say much
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if options.state:
            program = stateful.generate(seed, options.lines, options.dtype, LOST_STATE.get(options.format, ()), options.format == "onnx", options.precision)
        else:
            products = PRODUCTS if options.precision.is_mixed else 0.0
            program = programs.generate(seed, options.lines, options.dtype, lambda x: fits(x, options, folder), products)
        verdict, message = judge(program, options, folder)
        if verdict in ("wrong", "crash") or (verdict == "refused" and options.refused):
            program = smaller(program, verdict, options, folder)
            message = judge(program, options, folder)[1]
    shapes = "" if options.state else ", ".join(f"{name} {list(x.shape)}" for name, x in program.inputs.items())
    return seed, verdict, message, f"{shapes}\n{program.source()}"


def main(text):
    parser = argparse.ArgumentParser(description=text.split("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lines", type=int, help="of a program (default: 14; parts of a module: 3)")
    parser.add_argument("--state", action="store_true", help="modules with state in place of functions: several training steps and an evaluation")
    parser.add_argument("--format", default="traced", choices=checking.FORMATS)
    parser.add_argument("--dtype", default=torch.float32, type=lambda name: getattr(torch, name), help="of parameters and inputs: float32 (default), bfloat16, float16")
    parser.add_argument("--precision", default="fp32", choices=precisions.NAMES, help="mixed: bf16 or fp16, beside torch.autocast")
    parser.add_argument("--refused", action="store_true", help="make those smaller, too, that accc refuses")
    parser.add_argument("--target", default="cpu", choices=targets.NAMES, help=targets.HELP)
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="for a run of a library")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--accc", type=pathlib.Path, default=ROOT / "build/bin/accc")
    options = parser.parse_args()
    options.lines = options.lines or (3 if options.state else 14)
    if options.precision != "fp32" and options.dtype != torch.float32:
        parser.error("--precision is for parameters and inputs in float32")
    options.precision = precisions.Precision(options.precision, has_products=True)
    options.target = targets.find(options.target, options.accc)
    counts = collections.Counter()
    tasks = [(seed, options) for seed in range(options.seed, options.seed + options.count)]
    for seed, verdict, message, source in each_result(check, tasks, options.jobs, tasks_per_process=50):
        counts[verdict] += 1
        if verdict in ("wrong", "crash") or (verdict == "refused" and options.refused):
            print(f"{verdict}, seed {seed}: {message[:600]}\n{source}", flush=True)
        elif verdict == "refused":
            print(f"refused, seed {seed}: {message[:300]}", flush=True)
    print(f"{options.count} programs: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common()))
    raise SystemExit(1 if counts["wrong"] or counts["crash"] else 0)
