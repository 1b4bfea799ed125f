# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verdicts of samples that make one module."""

import time

import checking
import samples as sampling

COMPILE_SECONDS = 60  # and five for each sample


def judge(parts, task, folder):
    """A verdict and a message for each of some samples, checked together. Where not all of them are right, those that the
    message names are checked again alone, or, if it names none, both halves. Nothing is begun after the end of the task."""
    if time.monotonic() > task.end:
        return [("not run", "the samples of this and of neighbouring operators took too long")] * len(parts)
    verdict, message = _verdict(parts, task, folder)
    if verdict == "right" or len(parts) == 1:
        return [(verdict, message)] * len(parts)
    half = len(parts) // 2
    named = _named(message) if verdict == "wrong" else {}
    if not 0 < len(named) <= half:
        return judge(parts[:half], task, folder) + judge(parts[half:], task, folder)
    return [_alone(part, named[i], task, folder) if i in named else ("right", "") for i, part in enumerate(parts)]


def _alone(part, together, task, folder):
    """Of a sample that was wrong together with others. In mixed precision one that is right alone is right: what a product of another
    sample reads is rounded for all that read it, and the gradients of their results are of the same numbers."""
    verdict, message = judge([part], task, folder)[0]
    if task.precision.is_mixed and verdict == "right":
        return verdict, message
    return ("wrong", "beside other samples " + "\n".join(together)) if verdict in ("right", "not run") else (verdict, message)


def _named(message):
    """The lines of a message by the sample whose result, gradient or buffer they name."""
    lines = {}
    for line in message.split("\n"):
        if (sample := checking.sample_of(line)) is not None:
            lines.setdefault(sample, []).append(line)
    return lines


def _verdict(parts, task, folder):
    try:
        compiler = checking.Compiler(task.accc, task.target, task.limit * len(parts), COMPILE_SECONDS + 5 * len(parts), task.precision)
        parts = [sampling.derived(part) for part in parts] if task.format == "derived" else parts
        wrong = checking.check(sampling.Samples(parts), task.format, compiler, folder)
        return ("wrong", "\n".join(wrong)) if wrong else ("right", "")
    except checking.Unjudged as error:
        return error.verdict, str(error)
    except Exception as error:
        return "no reference", f"{type(error).__name__}: {str(error)[:300]}"
