# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The truth about a case: PyTorch eager, on the CPU, once in float32 and once in float64."""

import copy

import torch


def make_optimizer(spec, lr, parameters):
    """Builds the torch optimizer that a spec in accc's command-line syntax names."""
    name, *options = spec.split(",")
    values = {}
    for option in options:
        key, _, value = option.partition("=")
        values[key] = float(value) if value else True
    if name in ("adam", "adamw") and ("beta1" in values or "beta2" in values):
        values["betas"] = (values.pop("beta1", 0.9), values.pop("beta2", 0.999))
    kinds = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
    return kinds[name](parameters, lr=lr, **values)


def moved(module, seed):
    """A copy with every parameter moved to the next float, up or down: as right as the original.

    How far its results are from the original's is how much rounding decides in this model.
    """
    generator = torch.Generator().manual_seed(seed)
    module = copy.deepcopy(module)
    with torch.no_grad():
        for parameter in module.parameters():
            up = torch.rand(parameter.shape, generator=generator) < 0.5
            towards = torch.where(up, torch.inf, -torch.inf).to(parameter.dtype)
            parameter.copy_(torch.nextafter(parameter, towards))
    return module


def run(case, names, dtype):
    """Trains a copy of the case's module for its number of steps on its one batch.

    `names` is what `bind_names` returned. Returns {tensor name: tensor}, detached: `loss`, the
    outputs and `grad.<initialiser>` of the first step, `losses` of all steps, and
    `param.<initialiser>` (parameters and moving statistics) after the last one. Tensors that the
    exporter stored transposed come out transposed.
    """
    torch.manual_seed(0)
    module = copy.deepcopy(case.module).to(dtype).train()
    inputs = [x.to(dtype) if x.is_floating_point() else x for x in case.inputs.values()]
    target = case.target.to(dtype) if case.target.is_floating_point() else case.target
    tensors = dict(module.named_parameters(remove_duplicate=False))
    tensors.update(module.named_buffers(remove_duplicate=False))
    optimizer = make_optimizer(case.optimizer, case.lr, module.parameters())
    losses = {
        "cross_entropy": torch.nn.functional.cross_entropy,
        "mse": torch.nn.functional.mse_loss,
    }
    golden, history = {}, []

    def put(prefix, get):
        for initializer, (name, transposed) in names.items():
            value = get(tensors[name])
            if value is not None:
                golden[prefix + initializer] = (value.T if transposed else value).detach().clone()

    for step in range(case.steps):
        outputs = module(*inputs)
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        loss = losses[case.loss](outputs[0], target)
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            golden["loss"] = loss.detach().clone()
            golden.update((name, x.detach().clone()) for name, x in zip(case.outputs, outputs))
            put("grad.", lambda tensor: tensor.grad)
        optimizer.step()
        history.append(loss.detach().clone())
    golden["losses"] = torch.stack(history)
    put("param.", lambda tensor: tensor)
    return {name: tensor.contiguous() for name, tensor in golden.items()}


def dropout_losses(case):
    """The mean and the standard deviation of the first step's loss over dropout masks."""
    large = sum(p.numel() for p in case.module.parameters()) > 10**6
    seeds = 8 if large else 32
    values = []
    for seed in range(seeds):
        torch.manual_seed(seed)
        module = copy.deepcopy(case.module).train()
        with torch.no_grad():
            outputs = module(*case.inputs.values())
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        values.append(torch.nn.functional.cross_entropy(outputs[0], case.target).item())
    values = torch.tensor(values, dtype=torch.float64)
    return values.mean().item(), values.std().item()
