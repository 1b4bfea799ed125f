# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions in processes of their own, with limits; and commands."""

import dataclasses
import functools
import importlib
import multiprocessing
import os
import pathlib
import re
import resource
import subprocess
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import targets  # noqa: E402


class Failure(Exception):
    """A child that did not end well; the text says how, with the errors that it printed."""


class NoEnd(Failure):
    """One that took longer than allowed."""


@dataclasses.dataclass
class Limits:
    """Seconds for making and for each command of accc, and bytes of addresses for each child."""

    make: float
    compile: float
    memory: int


def call(module: str, function: str, arguments: tuple, log: pathlib.Path, timeout: float, memory: int) -> None:
    """Calls `module.function(*arguments)` in a child that has imported the module before, with its output in `log`.

    The children are forks of a server that imports once, which for these libraries takes longer than many a model.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([module, "timm", "torchvision", "transformers"])
    child = context.Process(target=_enter, args=(module, function, arguments, log, memory))
    child.start()
    child.join(timeout)
    if child.is_alive():
        child.kill()
        child.join(timeout)
        raise NoEnd(f"no end after {timeout:.0f} s")
    if child.exitcode != 0:
        raise Failure(f"exit {child.exitcode}: {_errors(log.read_text(errors='replace'))}")


def run(command: list, log: pathlib.Path, timeout: float, memory: int, codes=(0,), environment: dict | None = None) -> str:
    """Runs a command, with its output in `log`; returns what it printed."""
    with log.open("w") as stream:
        limit = functools.partial(_limit, memory)
        try:
            streams = dict(stdout=stream, stderr=stream)
            done = subprocess.run(command, **streams, timeout=timeout, preexec_fn=limit, env=environment or None)
        except subprocess.TimeoutExpired:
            raise NoEnd(f"no end after {timeout:.0f} s") from None
    text = log.read_text(errors="replace")
    if done.returncode not in codes:
        raise Failure(f"exit {done.returncode}: {_errors(text)}")
    return text


def _enter(module: str, function: str, arguments: tuple, log: pathlib.Path, memory: int) -> None:
    with log.open("w", buffering=1) as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    _limit(memory)
    try:
        getattr(importlib.import_module(module), function)(*arguments)
    except BaseException:
        traceback.print_exc()
        sys.exit(1)


def _limit(memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _errors(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no message"]
    wanted = [line for line in lines if re.match(rf"([\w.]*(Error|Exception)\b|.*\berror: |{targets.FAULT})", line)]
    return "\n".join(wanted[-8:] or lines[-3:])[:2000]
