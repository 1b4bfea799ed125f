# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws trainings, runs them in accc and in PyTorch, and makes those smaller that part."""

import argparse
import collections
import os
import pathlib
import sys
import tempfile
import time
import warnings

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / folder) for folder in ("op_samples", "combinations")]

import checking  # noqa: E402
import comparing  # noqa: E402
import reference  # noqa: E402
import running  # noqa: E402
import setups  # noqa: E402
import targets  # noqa: E402
from accc_export.noise import DISTANCES  # noqa: E402
from workers import each_result  # noqa: E402

SHOWN = ("wrong", "crash", "refused", "no export")
MINIMISING_SECONDS = 240


def judge(setup, options, folder):
    """A verdict, a message, and the part of the records in which rounding decides."""
    runner = running.Runner(options.accc, options.program, targets.find(setup.target, options.accc))
    try:
        found = runner.run(setup, folder)
    except checking.Unjudged as error:
        return error.verdict, str(error), 0.0
    comparison = compared(setup, options.fault)
    wrong = comparison.wrong(found)
    return "wrong" if wrong else "right", "\n".join(wrong), comparison.decided()


def compared(setup, fault):
    """What PyTorch makes of the setup, with a mistake."""
    plain = reference.Reference(setup, fault=fault)
    runs = [plain.run()]
    skipped = plain.overflowed  # also where numbers are no greater than those of float64
    runs += [reference.Reference(setup, moved=by, skipped=skipped, fault=fault).run() for by in DISTANCES]
    exact = reference.Reference(setup, is_exact=True, skipped=skipped, fault=fault).run()
    return comparing.Comparison(setup, exact, runs, plain.unordinary)


def smaller(setup, verdict, options, folder):
    """The setup without what does not matter."""
    end, changed = time.monotonic() + MINIMISING_SECONDS, True
    while changed:
        changed = False
        for less in setups.simpler(setup):
            if time.monotonic() > end:
                return setup
            try:
                found = judge(less, options, folder)[0]
            except Exception:  # PyTorch does not take it
                continue
            if found == verdict:
                setup, changed = less, True
                break
    return setup


def check(task):
    seed, options = task
    if not options.verbose:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # PyTorch's exporters say much
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # as a session does
    warnings.simplefilter("ignore")
    setup = setups.draw(seed, options.target, options.nets.split(",") if options.nets else ())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        verdict, message, decided = judge(setup, options, folder)
        if verdict in ("wrong", "crash") and not options.fault and options.smaller:
            setup = smaller(setup, verdict, options, folder)
            message = judge(setup, options, folder)[1]
    return seed, verdict, message, decided, setup


def main(text):
    parser = argparse.ArgumentParser(description=text.split("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", default="cpu", choices=targets.NAMES, help=targets.HELP)
    parser.add_argument("--nets", help="of these kinds alone, as in Mlp,Transformer")
    parser.add_argument("--fault", choices=reference.FAULTS, help="a mistake in PyTorch's training, which must show")
    parser.add_argument("--no-smaller", dest="smaller", action="store_false", help="show what is wrong as it was drawn")
    parser.add_argument("--verbose", action="store_true", help="show what exporters say")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--accc", type=pathlib.Path, default=ROOT / "build/bin/accc")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/bin/long_training")
    options = parser.parse_args()
    counts, decided = collections.Counter(), []
    tasks = [(seed, options) for seed in range(options.seed, options.seed + options.count)]
    for seed, verdict, message, part, setup in each_result(check, tasks, options.jobs, tasks_per_process=20):
        counts[verdict] += 1
        decided += [part] if verdict in ("right", "wrong") else []
        if verdict in SHOWN and not options.fault:
            lines = message.splitlines()
            print(f"{verdict} ({part:.0%} decided by rounding), seed {seed}:", *lines[:4], f"({len(lines)} lines)", setup.text(), sep="\n  ", flush=True)
    share = sum(decided) / max(1, len(decided))
    print(f"{options.count} trainings: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common()) + f"; rounding decides {share:.1%} of the records")
    failed = counts["wrong"] + counts["crash"]
    raise SystemExit(1 if failed and not options.fault else 0)
