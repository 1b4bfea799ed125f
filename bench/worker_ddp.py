# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch in several processes: worker_ddp.py MODEL CONFIG PROCESSES SECONDS together|alone

`together` is DistributedDataParallel with gloo; `alone` is each process for itself. One thread each. The learning rate is
zero. Prints the median of rank 0, in ms.
"""

import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "examples" / "export"), str(ROOT / "python")]

import torch  # noqa: E402
import torch.multiprocessing  # noqa: E402
from accc_export.training import make_optimizer  # noqa: E402
from models import MODELS  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

WARM, LEAST = 2, 5


def train(rank, name, config, processes, seconds, how, store):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=processes)
    torch.manual_seed(0)
    case = MODELS[name](config)
    case.module.train()
    optimizer = make_optimizer(case.optimizer, 0.0, case.module.parameters(), fused=True)
    net = DistributedDataParallel(case.module) if how == "together" else case.module
    times, more = [], torch.ones(1)
    while more:
        begin = time.perf_counter()
        outputs = net(*case.inputs.values())
        logits = outputs if isinstance(outputs, torch.Tensor) else outputs[0]
        loss = torch.nn.functional.cross_entropy(logits, case.target)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        loss.item()
        times.append(time.perf_counter() - begin)
        more[0] = sum(times[WARM:]) < seconds or len(times) < WARM + LEAST
        torch.distributed.broadcast(more, 0)
    if rank == 0:
        print(f"{statistics.median(times[WARM:]) * 1e3:.3f}")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    name, config, processes, seconds, how = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        arguments = (name, config, int(processes), float(seconds), how, folder + "/store")
        torch.multiprocessing.spawn(train, arguments, int(processes))
