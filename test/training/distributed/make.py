#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a net in two processes of PyTorch's DistributedDataParallel (gloo, on a CPU), and writes what
test/training/distributed.py compares with. Needs PyTorch and accc_export; the files are in the repository.

    model.pt2      the net, with batch norms; one of them keeps no running statistics
    separate/      statistics are those of a process's own rows: running ones end as the first process's
    synchronized/  they are those of all rows, of which the processes have unequal numbers

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

ROWS = {"separate": (6, 6), "synchronized": (6, 4)}
STEPS, RATE = 5, 0.1


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.features = torch.nn.Sequential(
            torch.nn.Conv2d(2, 8, 3, padding=1, bias=False),
            torch.nn.BatchNorm2d(8),
            torch.nn.ReLU(),
            torch.nn.Conv2d(8, 8, 3, stride=2, padding=1),
            torch.nn.BatchNorm2d(8, track_running_stats=False),
            torch.nn.SiLU(),
        )
        self.head = torch.nn.Linear(8, 5)

    def forward(self, images):
        return self.head(self.features(images).mean((2, 3)))


class Sum(torch.autograd.Function):
    """Of a tensor over all processes, each with a loss of its own."""

    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        torch.distributed.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        return Sum.forward(ctx, gradient)


class Synchronized(torch.nn.Module):
    """A batch norm by the definition of PyTorch's SyncBatchNorm, which there is for GPUs alone, in float64."""

    def __init__(self, norm):
        super().__init__()
        self.__dict__["norm"] = norm  # its parameters and buffers are named once
        for name, tensor in norm.named_parameters():
            self.register_parameter(name, tensor)
        for name, tensor in norm.named_buffers():
            self.register_buffer(name, tensor)

    def forward(self, x):
        rows = x.double().transpose(0, 1).flatten(1)
        count = Sum.apply(torch.tensor(float(rows.shape[1]), dtype=torch.float64))
        mean = Sum.apply(rows.sum(1)) / count
        var = Sum.apply((rows - mean[:, None]).square().sum(1)) / count
        if self.norm.track_running_stats:
            with torch.no_grad():
                self.running_mean.lerp_(mean.float(), self.norm.momentum)
                self.running_var.lerp_((var * count / (count - 1)).float(), self.norm.momentum)
                self.num_batches_tracked.add_(1)
        shape = (1, -1, *[1] * (x.dim() - 2))
        normal = (x.double() - mean.view(shape)) / (var.view(shape) + self.norm.eps).sqrt()
        return (normal * self.weight.view(shape) + self.bias.view(shape)).float()


def make():
    torch.manual_seed(1)
    return Net()


def synchronize(module):
    for name, part in module.named_children():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
            setattr(module, name, Synchronized(part))
        else:
            synchronize(part)


def batch(case, rank):
    generator = torch.Generator().manual_seed(10 + rank)
    rows = ROWS[case][rank]
    images = torch.randn(rows, 2, 8, 8, generator=generator) * (1 + rank)
    return images, torch.randint(5, (rows,), generator=generator)


def train(rank, case, results):
    torch.set_num_threads(1)
    ranks = len(ROWS[case])
    torch.distributed.init_process_group("gloo", init_method=f"file://{results}.store", rank=rank, world_size=ranks)
    net = make()
    if case == "synchronized":
        synchronize(net)
    together = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE, momentum=0.9)
    images, target = batch(case, rank)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(together(images), target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        mean = loss.detach().clone()
        torch.distributed.all_reduce(mean, torch.distributed.ReduceOp.SUM)
        losses.append(mean / ranks)
    if rank == 0:
        torch.save((net.state_dict(), torch.stack(losses)), results)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    from safetensors.torch import save_file

    results = "/tmp/accc-distributed.pt"
    for case, rows in ROWS.items():
        for stale in (results, results + ".store"):
            pathlib.Path(stale).unlink(missing_ok=True)
        torch.multiprocessing.spawn(train, (case, results), len(rows))
        state, losses = torch.load(results)
        (HERE / case).mkdir(exist_ok=True)
        save_file(state | {"losses": losses}, HERE / case / "golden.safetensors")
        for rank in range(len(rows)):
            images, target = batch(case, rank)
            save_file({"images": images, "target": target}, HERE / case / f"rank{rank}.safetensors")
    accc_export.export(make(), (batch("separate", 0)[0],), str(HERE / "model.pt2"), dynamic={"batch": {"images": 0}})
