# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the processes of the Python contenders share: memory of the process, and the protocol.

A worker prints one line of JSON when it is ready, then answers every line "SECONDS" on its standard
input with the figures of that many seconds' steps, and ends with the end of its input.
"""

import ctypes
import gc
import json
import sys
import time

WARMUP = 2
LEAST = 5


def memory(field):
    """A figure of this process in bytes: VmRSS is resident now, VmHWM the most there ever was."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    raise KeyError(field)


def reset_peak():
    """Makes VmHWM start again from what is resident, after giving back what is free."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as control:
        control.write("5")


def step_memory(step, base):
    """The most that three steps hold, in bytes beyond `base`, the process before the model."""
    reset_peak()
    for _ in range(3):
        step()
    return max(0, memory("VmHWM") - base)


def quantile(ordered, q):
    return ordered[int(q * (len(ordered) - 1) + 0.5)]


def time_round(step, seconds):
    """Times at least LEAST steps after WARMUP ones that do not count; the keys of `accc bench`."""
    for _ in range(WARMUP):
        step()
    times, start = [], time.perf_counter()
    while len(times) < LEAST or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        step()
        times.append((time.perf_counter() - begin) * 1e3)
    times.sort()
    figures = {"steps": len(times), "median_ms": quantile(times, 0.5)}
    return figures | {"p10_ms": quantile(times, 0.1), "p90_ms": quantile(times, 0.9)}


def serve(step, base, report):
    """Takes the first step, which may compile, reports, and then serves rounds.

    `step` runs one whole training step to its end and returns its loss as a float.
    """
    begin = time.perf_counter()
    report["loss"] = step()
    report["first_step_s"] = time.perf_counter() - begin
    step()
    report["memory"] = step_memory(step, base)
    print(json.dumps(report), flush=True)
    for line in sys.stdin:
        print(json.dumps(time_round(step, float(line))), flush=True)
