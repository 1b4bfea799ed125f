# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts by name, and how they are run: each by itself, within its time, whatever others do."""

import time
import traceback

import part_ceilings
import part_goldens
import part_kernels
import part_profile
import part_sanitizer
import part_steps
from machine import Failed, Machine, OutOfTime, Skip
from report import Report

PARTS = {
    "ceilings": (part_ceilings.run, 240),
    "kernels": (part_kernels.run, 400),
    "goldens": (part_goldens.run, 240),
    "sanitizer": (part_sanitizer.run, 500),
    "profile": (part_profile.run, 200),
    "steps": (part_steps.run, 560),
}
"""Name: (function, seconds). The function takes machine, report and options, writes its tables even
where it raises, and returns how many things are wrong."""


STAND_IN = "Stand-in"
MEASURING = ("ceilings", "sanitizer", "profile", "steps")


def run(options):
    machine = Machine(options.directory)
    machine.deadline = time.monotonic() + 120
    try:
        device = machine.describe()
    except (Skip, Failed, OutOfTime, OSError) as reason:
        device = None
        print(f"This machine has no device that accc can use, so every part is skipped: {reason}")
    machine.device = device
    outcomes = {name: run_part(name, machine, device, options) for name in options.part or PARTS}
    print("\n" + "\n".join(f"{name}: {text}" for name, (text, _) in outcomes.items()))
    return 1 if any(wrong for _, wrong in outcomes.values()) else 0


def run_part(name, machine, device, options):
    """(what came of it, whether that is bad)"""
    function, seconds = PARTS[name]
    begin = time.monotonic()
    machine.deadline = begin + (options.limit or seconds)
    report = Report(options.directory, name, device)
    try:
        if device is None:
            raise Skip("there is no device")
        if device["device"] == STAND_IN and name in MEASURING and not options.part:
            raise Skip("what the stand-in takes says nothing of a device; --part runs it all the same")
        wrong = function(machine, report, options)
        text, bad = (f"{wrong} wrong", True) if wrong else ("nothing wrong", False)
    except Skip as reason:
        text, bad = f"skipped: {reason}", False
    except OutOfTime as reason:
        text, bad = f"out of time: {reason}", True
    except Failed as reason:
        text, bad = f"failed: {reason}", True
    except Exception as error:  # the other parts go on
        traceback.print_exc()
        text, bad = f"failed: {type(error).__name__}: {error}", True
    text += f" ({time.monotonic() - begin:.0f} s)"
    report.say(text)
    return text, bad
