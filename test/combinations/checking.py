# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs the programs of a case, and compares what they computed."""

import array
import dataclasses
import hashlib
import json
import math
import os
import random
import shlex
import struct
import subprocess

from calls import plain
from options import SECONDS, Compilation, least_budget, vary

RUN_SECONDS = 60
LARGE_LOSS = 1e3
MOVED = 50  # times what a bit in each weight changes


@dataclasses.dataclass
class Case:
    """A program: how it is compiled and what it calls, plainly and otherwise."""

    base: Compilation
    variations: list  # [(name, seed)]
    calls: list
    settings: dict  # of the program with varied calls alone, as is the environment
    environment: dict


class NoProgram(Exception):
    """The program ends with an error without being varied: its data is not for its model, or but for rounding."""


class Failure(Exception):
    """What is wrong, and the commands that show it."""

    def __init__(self, what, commands):
        super().__init__(what)
        self.commands = commands


def read_tensors(path):
    """{name: (type, bytes)} of a safetensors file."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], body[slice(*entry["data_offsets"])]) for name, entry in header.items()}


def distance(a, b):
    """The root mean square of a difference of two tensors, and of the second."""
    x, y = (array.array({"F32": "f", "F64": "d"}[kind], data) for kind, data in (a, b))
    error = sum((u - v) ** 2 for u, v in zip(x, y) if u != v and not (math.isnan(u) and math.isnan(v)))
    scale = sum(v * v for v in y if math.isfinite(v))
    return math.sqrt(error / len(y)), math.sqrt(scale / len(y))


def is_close(name, a, b, tolerance, moved):
    """Whether one tensor is the other, within a tolerance and what those of `moved`, with weights that are one bit
    away, show of its rounding. Not asked of parameters: one whose gradient is but rounding may go either way."""
    if a == b:
        return True
    if tolerance == 0 or a[0] != b[0] or len(a[1]) != len(b[1]):
        return False
    if name.startswith("state.") or a[0] not in ("F32", "F64"):
        return True
    error, scale = distance(a, b)
    return error <= tolerance * (1e-3 + scale) + MOVED * max([distance(other, b)[0] for other in moved], default=0)


def compare(found, expected, tolerance, moved=()):
    """The name of what differs first, or None. What a later call has overwritten may be missing."""
    for name, tensor in expected.items():
        if name not in found:
            if name.startswith("state."):
                return f"{name} is missing"
        elif name != "threads" and not is_close(name, found[name], tensor, tolerance, [other[name] for other in moved]):
            return name
    return None


def diverges(tensors):
    """Whether losses grow without bound, so that rounding grows with them."""
    losses = [data for name, (kind, data) in tensors.items() if name.endswith(".loss") and kind == "F32"]
    return not all(abs(struct.unpack("<f", data)[0]) <= LARGE_LOSS for data in losses)


def as_typed(words, environment):
    """A command as one types it."""
    return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in environment.items()), shlex.join(map(str, words))])


class Checker:
    """Runs cases in a folder, where it keeps the libraries."""

    def __init__(self, accc, program, scratch, standin):
        self.accc, self.program, self.scratch, self.standin = accc, program, scratch, standin

    def command(self, words, environment, seconds):
        """Runs a command; its text, and what is wrong with how it ended."""
        words, text = [str(word) for word in words], as_typed(words, environment)
        environment = {**os.environ, **environment}
        try:
            done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return text, f"does not end within {seconds} s"
        if done.returncode:
            return text, f"ends with {done.returncode}: {(done.stdout + done.stderr).strip()[-600:]}"
        return text, None

    def compile(self, made, commands):
        words = ["compile", made.model.file, *made.options()]
        key = hashlib.sha256(repr((words, made.compiler_environment)).encode()).hexdigest()[:12]
        library = self.scratch / f"{key}.so"
        words = [str(word).replace("LIB.", f"{self.scratch}/{key}.") for word in words]
        if "--memory-budget" in words:
            at = words.index("--memory-budget") + 1
            if words[at].endswith("LEAST"):
                without = [*words[: at - 1], *words[at + 1 :], "-o", str(library)]
                times = float(words[at].removesuffix("LEAST") or 1)
                words[at] = str(int(times * least_budget(self.accc, without, made.compiler_environment)))
        words = [self.accc, *words, "-o", library]
        if library.exists():
            commands += [text for text in [as_typed(words, made.compiler_environment)] if text not in commands]
            return library
        text, problem = self.command(words, made.compiler_environment, SECONDS)
        commands.append(text)
        if problem:
            raise Failure("compile " + problem, commands)
        return library

    def run(self, library, made, calls, settings, environment, name, commands):
        out = self.scratch / f"{name}.safetensors"
        out.unlink(missing_ok=True)
        told = [f"{key}={value}" for key, value in settings.items()]
        words = [self.program, library, made.model.inputs, out, *told, *calls]
        environment = {**made.environment, **environment}
        if self.standin and {"cuda", "cuda,cpu"} & set(made.more):
            environment["LD_LIBRARY_PATH"] = str(self.standin)
        text, problem = self.command(words, environment, RUN_SECONDS * (5 if self.standin else 1))
        commands.append(text)
        may_decide = name == "plain" or (name == "compiled" and made.tolerance > 0)
        if may_decide and problem and problem.startswith("ends with 11:"):
            raise NoProgram(problem)
        if problem:
            raise Failure("program " + problem, commands)
        return read_tensors(out)

    def check(self, case):
        """Throws Failure where the program computes something else."""
        commands = []
        base, made = case.base, vary(case.base, case.variations, random.Random)
        library = self.compile(base, commands)
        other = self.compile(made, commands)
        threads = {"threads": 2}
        expected = self.run(library, base, plain(case.calls), {**base.settings, **threads}, {}, "plain", commands)
        settings = {key: library if value == "PLAIN" else value for key, value in {**made.settings, **threads}.items()}
        found = self.run(other, made, plain(case.calls), settings, {}, "compiled", commands)
        wrong = compare(found, expected, made.tolerance)
        if wrong and made.tolerance and diverges(expected):
            wrong = None
        elif wrong and made.tolerance:
            told = [{**base.settings, **threads, "moved": number} for number in (1, 2, 3)]
            rounding = [self.run(library, base, plain(case.calls), each, {}, "moved", commands[:]) for each in told]
            wrong = compare(found, expected, made.tolerance, rounding)
        if wrong:
            raise Failure(f"compiled otherwise: {wrong}", commands)
        # A checkpoint is for steps of the same names, and of the same state.
        options = ("--loss-scale", "fp16", "--accumulate-gradients", "--average-weights")
        is_apart = "step" in settings or any(option in made.more for option in options)
        partner = other if is_apart else library
        settings = {**settings, "other": partner, **case.settings}
        varied = self.run(other, made, case.calls, settings, case.environment, "varied", commands)
        # Within a budget a step in two has other copies than a step in one, which may add in another order.
        apart = "--memory-budget" in made.more and any(how in call for call in case.calls for how in ("/apart", "/added"))
        same = varied["threads"] == found["threads"] and not apart
        if wrong := compare(varied, found, 0 if same else max(made.tolerance, 1e-4)):
            raise Failure(f"called otherwise: {wrong}", commands)
