# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One PyTorch contender of the part `steps`: step_torch.py MODEL KIND PRECISION INPUTS PARAMS META

KIND is eager, eager-graph (the whole step captured as a CUDA graph) or compile[-MODE], each with
-channels-last for that layout of images; PRECISION is fp32, tf32, bf16 (torch.autocast) or fp16 (with torch.amp.GradScaler,
too); INPUTS the safetensors file that accc is given; PARAMS where the weights are written that accc is to start from, if
there are none yet. It is asked for rounds as rounds.py says. The learning rate is zero, so that all steps are
alike. In each step the inputs come from pinned memory of the host and the loss goes back, where it is read
one step late, as with accc.
"""

import os
import pathlib
import sys
import time

import torch

import gpu_models
import inputs
import rounds
from accc_export.training import make_optimizer

TYPES = {"F32": torch.float32, "I64": torch.int64, "I32": torch.int32}
MIXED = {"bf16": torch.bfloat16, "fp16": torch.float16}
CHANNELS_LAST = "-channels-last"


def tensor_of(stored):
    dtype, shape, data = stored
    return torch.frombuffer(bytearray(data), dtype=TYPES[dtype]).reshape(shape)


def write_weights(module, path):
    """Parameters and buffers under the names of the ONNX file."""
    tensors = dict(module.named_parameters()) | dict(module.named_buffers())
    named = {name: tensor for name, tensor in tensors.items() if tensor.dtype == torch.float32}
    stored = {}
    for name, tensor in named.items():
        data = tensor.detach().contiguous().numpy().tobytes()
        stored[name] = ("F32", list(tensor.shape), data)
    partial = path.with_suffix(f".{os.getpid()}")  # others may be writing the same
    inputs.write(partial, stored)
    os.replace(partial, path)


def make_step(name, kind, precision, file, weights):
    """A function that starts one training step and returns its loss, on the device."""
    case = gpu_models.build(name)
    if not weights.exists():
        write_weights(case.module, weights)
    module = case.module.cuda().train()
    host = {key: tensor_of(value) for key, value in inputs.read(pathlib.Path(file)).items()}
    if kind.endswith(CHANNELS_LAST):
        kind = kind.removesuffix(CHANNELS_LAST)
        module.to(memory_format=torch.channels_last)
        for key, value in host.items():
            host[key] = value.contiguous(memory_format=torch.channels_last) if value.dim() == 4 else value
    host = {key: value.pin_memory() for key, value in host.items()}
    given = {key: value.cuda() for key, value in host.items()}
    batch, target = [given[key] for key in case.inputs], given["target"]
    graph = kind == "eager-graph"
    setting = "capturable" if graph and case.optimizer.startswith("adam") else "fused"
    optimizer = make_optimizer(case.optimizer, 0.0, module.parameters(), **{setting: True})

    mixed = precision.split("-")[0]
    scaler = torch.amp.GradScaler("cuda", enabled=mixed == "fp16")

    def forward():
        with torch.autocast("cuda", MIXED.get(mixed), enabled=mixed in MIXED):
            outputs = module(*batch)
        logits = outputs if isinstance(outputs, torch.Tensor) else outputs[0]
        return torch.nn.functional.cross_entropy(logits.float(), target)

    if kind.startswith("compile"):
        forward = torch.compile(forward, mode=kind.removeprefix("compile").removeprefix("-") or None)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = forward()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss

    run = captured(step) if graph else step

    def whole_step():
        for key, value in host.items():
            given[key].copy_(value, non_blocking=True)
        return run()

    return whole_step


def captured(step):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(rounds.WARMUP):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay():
        graph.replay()
        return loss

    return replay


def read_late(step):
    """The step with its loss copied to the host, which waits for that of the step before the last."""
    slots = [(torch.empty((), pin_memory=True), torch.cuda.Event()) for _ in range(1 + rounds.RUN_AHEAD)]
    count = 0

    def run():
        nonlocal count
        loss, arrived = slots[count % len(slots)]
        arrived.synchronize()
        count += 1
        loss.copy_(step().detach(), non_blocking=True)
        arrived.record()
        return loss

    return run


def main():
    name, kind, precision, file, weights, _ = sys.argv[1:]
    allowed = precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed
    torch.backends.cudnn.benchmark = True
    begin = time.perf_counter()
    step = read_late(make_step(name, kind, precision, file, pathlib.Path(weights)))
    loss = step()
    torch.cuda.synchronize()
    ready = {"loss": float(loss), "first_step_s": time.perf_counter() - begin}
    for _ in range(rounds.WARMUP):
        step()
    torch.cuda.reset_peak_memory_stats()
    step()
    ready["memory"] = torch.cuda.max_memory_allocated()
    rounds.serve(step, ready)


if __name__ == "__main__":
    main()
