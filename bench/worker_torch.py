# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One PyTorch contender in its own process: worker_torch.py MODEL CONFIG DTYPE KIND PRECISION THREADS

PRECISION is fp32 or bf16 (torch.autocast). KIND is `eager` or `compile`, with `-cl` for the channels-last layout of images. Attention is torch's
fused one wherever the model asks for it, and the optimizer is the fused one. The learning rate is
zero, so that all steps are alike; nothing in the step looks at it.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples" / "export"))

import torch  # noqa: E402

import worker  # noqa: E402
from models import MODELS  # noqa: E402
from accc_export.training import make_optimizer  # noqa: E402


def loss_of(case, inputs, precision):
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
        outputs = case.module(*inputs)
    logits = outputs if isinstance(outputs, torch.Tensor) else outputs[0]
    return torch.nn.functional.cross_entropy(logits.float(), case.target)


def make_fused_optimizer(case):
    return make_optimizer(case.optimizer, 0.0, case.module.parameters(), fused=True)


def build(name, config, dtype):
    case = MODELS[name](config)
    return case if dtype == "float32" else case.narrowed(getattr(torch, dtype))


def load_code(name, dtype, precision):
    """Takes one step of the small model: what it imports and loads is not the real one's memory."""
    case = build(name, "small", dtype)
    optimizer = make_fused_optimizer(case)
    loss_of(case, case.inputs.values(), precision).backward()
    optimizer.step()


def main():
    name, config, dtype, kind, precision, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    load_code(name, dtype, precision)
    base = worker.memory("VmRSS")

    torch.manual_seed(0)
    case = build(name, config, dtype)
    case.module.train()
    inputs = list(case.inputs.values())
    if kind.endswith("-cl"):
        case.module.to(memory_format=torch.channels_last)
        inputs = [
            x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x for x in inputs
        ]
    optimizer = make_fused_optimizer(case)

    def forward():
        return loss_of(case, inputs, precision)

    if kind.startswith("compile"):
        forward = torch.compile(forward)

    def step():
        loss = forward()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()

    worker.serve(step, base, {"version": torch.__version__})


main()
