# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's eager steps of a model in its published configuration: eager.py NAME THREADS

Prints {"memory": bytes that a step holds at most, beyond the process before the model}, then answers every line
"STEPS" with {"median_ms": ...} of so many steps after one that does not count. The learning rate is zero.
"""

import json
import statistics
import sys
import time

import real_models
import torch
from wrapping import ROOT, prepare

sys.path.insert(0, str(ROOT / "bench"))

from worker import memory, reset_peak  # noqa: E402


def main() -> None:
    name, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    base = memory("VmRSS")
    model = prepare(real_models.build(name))
    optimizer = torch.optim.SGD(model.module.parameters(), lr=0.0, fused=True)

    def step() -> float:
        start = time.perf_counter()
        loss = model.module(**model.inputs)["loss"]
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        loss.item()
        return (time.perf_counter() - start) * 1e3

    step()
    reset_peak()
    step()
    print(json.dumps({"memory": memory("VmHWM") - base}), flush=True)
    for line in sys.stdin:
        step()
        print(json.dumps({"median_ms": statistics.median(step() for _ in range(int(line)))}), flush=True)


if __name__ == "__main__":
    main()
