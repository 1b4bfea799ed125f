# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists of calls, as combination.cpp takes them, and the environment that they are made in."""

import re

BEFORE = [
    "refused", "evaluated", "detour", "resumed", "through", "rewritten", "moved", "profiled", "prepared", "another",
]  # fmt: skip
WHERE = ["thread", "team", "beside"]
STEP = ["apart", "copied", "session", "added"]
ENVIRONMENTS = [
    {"OMP_DYNAMIC": "true"},
    {"OMP_THREAD_LIMIT": "1"},
    {"OMP_THREAD_LIMIT": "2"},
    {"OMP_MAX_ACTIVE_LEVELS": "0"},
    {"OMP_MAX_ACTIVE_LEVELS": "3", "OMP_DYNAMIC": "true"},
    {"OMP_NUM_THREADS": "1"},
    {"OMP_NUM_THREADS": "3"},
    {"OMP_PROC_BIND": "true"},
    {"ACCC_POISON": "1"},
]
GPU_ENVIRONMENTS = [
    {"ACCC_CUDA_GRAPH": "0"},
    {"ACCC_CUDA_LARGE_BYTES": "1024", "ACCC_CUDA_OVERLAP_BYTES": "1024"},
    {"ACCC_CUDA_LARGE_BYTES": "64"},
    {"ACCC_CUDA_BRANCHES": "1", "STANDIN_GRAPHS": "late"},
    {"ACCC_POISON": "1"},
]


def draw_calls(random, steps, has_outputs):
    """What a program computes: some calls, and an evaluation at the end of each training step."""
    calls = []
    feeds = random.random() < 0.5
    for _ in range(random.randint(2, 7)):
        step = random.choice(steps)
        head = lambda what: f"{what}:{step}@{random.randint(0, 3)}" if step else f"{what}@{random.randint(0, 3)}"
        kind = random.random() if not feeds or random.random() < 0.4 else 0.9
        if kind < 0.1:
            calls.append(f"rate@{random.choice([0.001, 0.003, 0.01, 0.02])}")
            continue
        call = head("eval" if kind < 0.25 else "sum" if kind < 0.4 else "step")
        if feeds and random.random() < 0.6:
            call += random.choice(["+outputs", "+outputs", "+variables"] if has_outputs else ["+variables"])
        calls.append(call)
    return calls + [f"eval:{step}@0" if step else "eval@0" for step in steps]


def vary_calls(random, calls):
    """The same calls, made in other ways."""
    varied = []
    feeds = any("+outputs" in call for call in calls)
    for call in calls:
        what = re.match(r"\w+", call)[0]
        hows = [how for how in BEFORE if random.random() < 0.1]
        if what != "rate":
            if random.random() < 0.35:
                hows.append(random.choice(WHERE))
            if what == "step" and random.random() < 0.4:
                hows.append(random.choice(STEP))
            if "+" in call and random.random() < 0.8:
                hows = [how for how in hows if how not in ("refused", "evaluated", "detour")] + ["shared"]
            elif random.random() < 0.1:
                hows.append("misaligned")
            if random.random() < 0.3:
                hows.append("kept" if feeds else random.choice(["kept", "late"]))
            call += "".join("/" + how for how in hows)
        varied.append(call)
    return varied


def plain(calls):
    return [call.split("/")[0] for call in calls]


def draw_environment(random, gpu):
    environment = {}
    for _ in range(random.choice([0, 1, 1, 1, 2])):
        environment.update(random.choice(GPU_ENVIRONMENTS if gpu else ENVIRONMENTS))
    return environment
