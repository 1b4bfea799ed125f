# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many tasks on a few processes."""

import multiprocessing

PATIENCE = 1800
"""Seconds for one task: more than a program takes that is made smaller step by step."""


def each_result(function, tasks, jobs, tasks_per_process):
    """What the function gives of each task, in their order. A pool waits forever for a task whose process died, as PyTorch may
    die of a bug of its own; here that ends the run."""
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=tasks_per_process) as pool:
        results = pool.imap(function, tasks)
        for number, _ in enumerate(tasks):
            try:
                yield results.next(PATIENCE)
            except multiprocessing.TimeoutError:
                raise SystemExit(f"task {number}: no result for {PATIENCE} s: its process died, or hangs") from None
