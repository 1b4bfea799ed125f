# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws training programs and checks that no combination of options and calls changes what they compute."""

import argparse
import copy
import dataclasses
import pathlib
import random
import shutil
import sys
import time

from calls import draw_calls, draw_environment, vary_calls
from checking import Case, Checker, Failure, NoProgram
from models import draw_model
from options import ROUNDED, SAME_BITS, VARIATIONS, Compilation

OPTIMIZERS = [
    "sgd", "sgd,momentum=0.9", "sgd,momentum=0.9,nesterov,weight_decay=0.01", "adam", "adam,amsgrad", "adamw",
    "adamw,clip_grad_norm=0.5", "rmsprop,momentum=0.5", "rmsprop,centered", "adagrad", "sgd,maximize",
    "nadam", "radam,weight_decay=0.1,decoupled_weight_decay", "adamax", "adadelta", "adafactor", "lion,weight_decay=0.1",
]  # fmt: skip
CASES_OF_A_LIBRARY = 3
MINIMISING_SECONDS = 300  # what hangs takes its limit in each try


def draw_base(draws, gpu):
    """A model, and how the plain program is compiled."""
    model = draw_model(draws, small=gpu)
    sizes = {name: [draws.choice([3, 8]) if name == "batch" else size] for name, size in model.dims.items()}
    losses, optimizers, more = (list(values) for values in (model.losses, model.optimizers, model.more))
    base = Compilation(model, losses, optimizers, sizes, more, dict(model.settings))
    if len(model.losses) == 1 and "--param-group" not in model.more:
        if draws.random() < 0.6:
            base.optimizers = [draws.choice(OPTIMIZERS)]
        if model.losses == ["cross_entropy"] and draws.random() < 0.3:
            base.losses = [draws.choice(["mse", "l1"])]
    if base.optimizers:
        # All but SGD move by the rate, however small a gradient is: with a large one, by rounding.
        own = base.optimizers[0].startswith("sgd") or ",lr=" in base.optimizers[0]
        base.settings["rate"] = model.rate if own else min(model.rate, 0.002)
    return base


def draw_variations(draws, base, gpu):
    """Some that change something."""
    names = ["on_gpu"] if gpu else []
    names += draws.sample(SAME_BITS, draws.randint(0, 3)) + draws.sample(ROUNDED, draws.choice([0, 0, 1, 2]))
    made, kept = copy.deepcopy(base), []
    for name in names:
        number = draws.random()
        if VARIATIONS[name](made, random.Random(number)) is not False:
            kept.append((name, number))
    return kept


def draw(seed, gpu):
    """The case of a seed. Some that follow each other are of one library, which takes longer than they do."""
    draws = random.Random(seed // CASES_OF_A_LIBRARY)
    base = draw_base(draws, gpu)
    variations = draw_variations(draws, base, gpu)
    draws = random.Random(seed)
    has_outputs = all(name != "loss_only" for name, _ in variations)
    calls = vary_calls(draws, draw_calls(draws, base.model.steps, has_outputs))
    settings = {"threads": draws.choice([2, 2, 1, 3])} if draws.random() < 0.3 else {}
    environment = draw_environment(draws, gpu)
    if gpu and draws.random() < 0.2:
        settings["graph"] = 0
    return Case(base, variations, calls, settings, environment)


def simpler(case):
    """The case with one thing less, in all ways."""
    for i in range(len(case.variations)):
        yield dataclasses.replace(case, variations=case.variations[:i] + case.variations[i + 1 :])
    for field in ("environment", "settings"):
        for name in getattr(case, field):
            yield dataclasses.replace(case, **{field: {k: v for k, v in getattr(case, field).items() if k != name}})
    for i, call in enumerate(case.calls):
        yield dataclasses.replace(case, calls=case.calls[:i] + case.calls[i + 1 :])
        head, *hows = call.split("/")
        for how in hows:
            with_less = "/".join([head, *(other for other in hows if other != how)])
            yield dataclasses.replace(case, calls=case.calls[:i] + [with_less] + case.calls[i + 1 :])


def minimise(checker, case, failure):
    """The smallest case found that fails in the same way, and its failure."""
    kind, end = str(failure).split(":")[0], time.monotonic() + MINIMISING_SECONDS
    again = True
    while again:
        again = False
        for less in simpler(case):
            if time.monotonic() > end:
                break
            try:
                checker.check(less)
            except NoProgram:
                continue
            except Failure as other:
                if str(other).split(":")[0] == kind:
                    case, failure, again = less, other, True
                    break
    return case, failure


def main(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accc", default="build/bin/accc", help="the tool (default: %(default)s)")
    parser.add_argument("--program", default="build/bin/combination", help="combination.cpp (default: %(default)s)")
    parser.add_argument("--count", type=int, default=100, help="number of programs (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first program (default: %(default)s)")
    parser.add_argument("--gpu", metavar="FOLDER", help="for a GPU; the stand-in for its driver is in this folder")
    parser.add_argument("--scratch", type=pathlib.Path, default="build/combinations", help="(default: %(default)s)")
    options = parser.parse_args()
    failed = refused = 0
    checker = Checker(options.accc, options.program, options.scratch, options.gpu)
    for seed in range(options.seed, options.seed + options.count):
        if seed == options.seed or seed % CASES_OF_A_LIBRARY == 0:
            shutil.rmtree(options.scratch, ignore_errors=True)
            options.scratch.mkdir(parents=True)
        case = draw(seed, options.gpu)
        try:
            checker.check(case)
        except NoProgram:
            refused += 1
        except Failure as failure:
            failed += 1
            case, failure = minimise(checker, case, failure)
            print(f"seed {seed}: {case.base.model.name}: {failure}", *failure.commands, sep="\n  ", flush=True)
    print(f"{options.count} programs: {failed} failed, {refused} cannot be run on their data")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(__doc__))
