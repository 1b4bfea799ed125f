# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a contender of the part `steps` is asked for rounds: it prints a line of JSON when its first step is
done, then one for every line "SECONDS" on its input."""

import json
import sys
import time

WARMUP, LEAST = 3, 5
RUN_AHEAD = 1
"""So many steps may be under way when the next is started, as accc has it: a step's loss is read one step late."""


def time_round(step, seconds):
    times, start = [], time.perf_counter()
    while len(times) < LEAST or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        step()
        times.append((time.perf_counter() - begin) * 1e3)
    times.sort()
    return {"median_ms": times[len(times) // 2], "steps": len(times)}


def serve(step, ready):
    print(json.dumps(ready), flush=True)
    for line in sys.stdin:
        print(json.dumps(time_round(step, float(line))), flush=True)
