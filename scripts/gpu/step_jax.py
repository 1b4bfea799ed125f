# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The JAX contender of the part `steps`: step_jax.py MODEL KIND PRECISION INPUTS PARAMS META

As step_torch.py, with one jitted function for the whole step; KIND is jax. PARAMS must be there.
"""

import collections
import json
import os
import pathlib
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # accc runs beside it

HERE = pathlib.Path(__file__).resolve().parent
# In the repository, or beside this file in a pack.
for folder in (HERE.parents[1] / "bench", HERE.parent / "export"):
    if folder.is_dir():
        sys.path.insert(0, str(folder))

import jax  # noqa: E402
import numpy as np  # noqa: E402

import inputs  # noqa: E402
import rounds  # noqa: E402
from full_size import FULL_SIZE  # noqa: E402
from jax_models import training  # noqa: E402

TYPES = {"F32": np.float32, "I64": np.int64, "I32": np.int32}


def arrays(file):
    stored = inputs.read(pathlib.Path(file))
    return {key: np.frombuffer(data, TYPES[dtype]).reshape(shape) for key, (dtype, shape, data) in stored.items()}


def main():
    name, _, precision, file, weights, meta = sys.argv[1:]
    jax.config.update("jax_default_matmul_precision", "tensorfloat32" if precision == "tf32" else "highest")
    optimizer = json.loads(pathlib.Path(meta).read_text())["optimizer"]
    begin = time.perf_counter()
    train = training.make_step(FULL_SIZE[name].jax, "full", optimizer, arrays(weights), wait=False)
    batch, target = training.arrange(arrays(file))
    losses = collections.deque()

    def step():
        losses.append(train(batch, target))
        if len(losses) > rounds.RUN_AHEAD:
            float(losses.popleft())

    step()
    loss = float(losses[-1])
    ready = {"loss": loss, "first_step_s": time.perf_counter() - begin}
    for _ in range(rounds.WARMUP):
        step()
    statistics = jax.local_devices()[0].memory_stats() or {}
    ready["memory"] = statistics.get("peak_bytes_in_use", 0)
    rounds.serve(step, ready)


if __name__ == "__main__":
    main()
