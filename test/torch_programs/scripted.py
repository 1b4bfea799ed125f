# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A random program as a module that torch.jit.script takes: its loops and branches are in the file."""

import importlib.util

import torch

TEXT = """import torch
import torch.nn.functional as F
from typing import Dict
from torch import Tensor

import helpers


def weigh(x: Tensor) -> Tensor:
    return (x * torch.cos(torch.arange(x.numel(), dtype=torch.float32) + 0.3).view(x.shape).to(x.dtype)).sum()


class Scripted(torch.nn.Module):
    __jit_ignored_attributes__ = ["samples", "inputs"]

    def forward(self, {parameters}) -> Dict[str, Tensor]:
        {body}
"""


def module(program, folder):
    """As sampling.Samples makes one: its leaves are parameters and inputs, its results are those of the program and a loss."""
    leaves = program.leaves()
    names = {name: f"p0_{i}" if x.requires_grad else f"x0_{i}" for i, (name, x) in enumerate(leaves.items())}
    body = [f"{name} = {'self.' if leaves[name].requires_grad else ''}{own}" for name, own in names.items()]
    body += [*program.statements(), "loss = self.unread.sum()"]
    values, found = program.values(), []
    for i, result in enumerate(program.results()):
        own = f"y0_{i}"
        body.append(f"{own} = torch.view_as_real({result}.resolve_conj())" if values[result].is_complex() else f"{own} = {result}")
        if values[result].is_floating_point() or values[result].is_complex():
            body.append(f"loss = loss + weigh({own})")
        found.append(f"'{own}': ({own} * 1).detach()")
    body.append(f"return {{'loss': loss * scale.sum(), {', '.join(found)}}}")
    inputs = {"scale": torch.ones(1), **{names[name]: x for name, x in leaves.items() if not x.requires_grad}}
    path = folder / "scripted_program.py"
    path.write_text(TEXT.format(parameters=", ".join(f"{name}: Tensor" for name in inputs), body="\n        ".join(body)))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    found = made.Scripted()
    found.samples, found.inputs = [], inputs
    for name, x in leaves.items():
        if x.requires_grad:
            found.register_parameter(names[name], torch.nn.Parameter(x.detach()))
    found.unread = torch.nn.Parameter(torch.ones(1))
    return found


def is_scriptable(program, folder):
    try:
        torch.jit.script(module(program, folder))
        return True
    except Exception:
        return False
