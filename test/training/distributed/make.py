#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a net in two processes of PyTorch's DistributedDataParallel (gloo, on a CPU), and writes what
test/training/distributed.py compares with. Needs PyTorch and accc_export; the files are in the repository.

The net has batch norms, whose statistics are those of a process's own rows: running ones end as the first process's.
Gradients are clipped as means.
"""

import pathlib
import sys

import torch
import torch.multiprocessing
from torch.nn.parallel import DistributedDataParallel

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "python"))
import accc_export  # noqa: E402

RANKS, ROWS, STEPS, RATE = 2, 6, 5, 0.1


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.features = torch.nn.Sequential(
            torch.nn.Conv2d(2, 8, 3, padding=1, bias=False),
            torch.nn.BatchNorm2d(8),
            torch.nn.ReLU(),
            torch.nn.Conv2d(8, 8, 3, stride=2, padding=1),
            torch.nn.BatchNorm2d(8),
            torch.nn.SiLU(),
        )
        self.head = torch.nn.Linear(8, 5)

    def forward(self, images):
        return self.head(self.features(images).mean((2, 3)))


def make():
    torch.manual_seed(1)
    return Net()


def batch(rank):
    generator = torch.Generator().manual_seed(10 + rank)
    images = torch.randn(ROWS, 2, 8, 8, generator=generator) * (1 + rank)
    return images, torch.randint(5, (ROWS,), generator=generator)


def train(rank, results):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{results}.store", rank=rank, world_size=RANKS)
    net = make()
    together = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE, momentum=0.9)
    images, target = batch(rank)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(together(images), target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        mean = loss.detach().clone()
        torch.distributed.all_reduce(mean, torch.distributed.ReduceOp.SUM)
        losses.append(mean / RANKS)
    if rank == 0:
        torch.save((net.state_dict(), torch.stack(losses)), results)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    from safetensors.torch import save_file

    results = "/tmp/accc-distributed.pt"
    for stale in (results, results + ".store"):
        pathlib.Path(stale).unlink(missing_ok=True)
    torch.multiprocessing.spawn(train, (results,), RANKS)
    state, losses = torch.load(results)
    save_file(state | {"losses": losses}, HERE / "golden.safetensors")
    for rank in range(RANKS):
        images, target = batch(rank)
        save_file({"images": images, "target": target}, HERE / f"rank{rank}.safetensors")
    accc_export.export(make(), (batch(0)[0],), str(HERE / "model.pt2"))
