# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the folders beside it: small modules as torch.jit.script and torch.jit.save write them, with PyTorch's own training.

    python make.py [CASE...]     (needs torch and safetensors)

Each case has `scripted.pt`, in two `old.pt` (the same of an older PyTorch, by old.py), and what `accc diff` compares with, as in
../exported, whose modules are traced, too.
`nested/traced.pt` is a trace whose inputs hold several tensors; test/unit/frontend reads it.
`refused` has modules that accc must refuse; test/unit/frontend says with which message.
"""

import argparse
import copy
import json
import pathlib
import sys
import torch
from safetensors.torch import save_file
from torch.utils._pytree import tree_leaves_with_path, tree_map_only

import containers
import layouts
import modules

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "exported"))
import make as exported  # noqa: E402
from models import numbers, words  # noqa: E402
from accc_export import noise  # noqa: E402

STEPS, RATE = 3, 0.05


def flat(inputs, is_given=False):
    """The tensors of the inputs, by the names that accc gives them, or as --input spells these."""
    found = {}
    for path, x in tree_leaves_with_path(inputs):
        if x is None:
            continue
        keys = [str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", None)))) for key in path]
        found["_".join(keys if is_given else keys[:1] + [key.lower() for key in keys[1:]])] = x
    return found


def describe(x):
    """As --input takes it."""
    return f"{str(x.dtype).removeprefix('torch.')}[{','.join(map(str, x.shape))}]"


REFUSED = modules.REFUSED | containers.REFUSED
NESTED = {
    "levels": [numbers(2, 3, 4, 4), numbers(2, 3, 2, 2)],
    "batch": {"Words": numbers(2, 5, 4), "weights": numbers(2, 5)},
    "states": [(numbers(2, 4), numbers(2, 4)), (numbers(2, 4), numbers(2, 4))],
    "pair": modules.Pair(numbers(2, 2), numbers(2, 2)),
    "mask": None,
    "scale": (numbers(2, 1), numbers(2)),
}

CASES = {
    "ragged": (modules.Ragged, {"x": numbers(3, 6, 4)}, ["x=float32[3,6,4]"], {}),
    "control": (modules.Control, {"x": numbers(4, 6)}, ["x=float32[batch,6]"], {"batch": 4}),
    "state": (modules.State, {"words": words(11, 3, 5)}, ["words=int64[3,5]"], {}),
    "itemized": (modules.Itemized, {"x": numbers(5, 4)}, ["x=float32[5,4]"], {}),
    "paused": (modules.Paused, {"x": numbers(5, 4)}, ["x=float32[5,4]"], {}),
    "masked": (modules.Masked, {"x": numbers(7, 4)}, ["x=float32[7,4]"], {}),
    "nested": (containers.Nested, NESTED, [f"{name}={describe(x)}" for name, x in flat(NESTED, is_given=True).items()], {}),
    "python": (containers.Python, {"x": numbers(4, 6)}, ["x=float32[4,6]"], {}),
    "interfaces": (containers.Interfaces, {"x": numbers(5, 4)}, ["x=float32[5,4]"], {}),
    "layouts": (layouts.Layouts, {"x": numbers(2, 3, 4, 5)}, ["x=float32[2,3,4,5]"], {}),
    "sequence": (modules.Sequence, {"x": numbers(2, 5, 4)}, ["x=float32[2,5,4]"], {}),
}
"""Name -> (module, inputs, --input, sizes of open dimensions)."""


def train(model, inputs, dtype):
    """`loss`, outputs and gradients of the first step, `losses` of all, parameters and buffers after the last."""
    model = copy.deepcopy(model).to(dtype)
    inputs = tree_map_only(torch.Tensor, lambda x: x.to(dtype) if x.is_floating_point() else x, inputs)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=RATE)
    results, losses = {}, []
    for step in range(STEPS):
        found = model(**inputs)
        optimizer.zero_grad()
        found["loss"].backward()
        if step == 0:
            results |= {name: x.detach().clone() for name, x in found.items()}
            results |= {f"grad.{n}": p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
        optimizer.step()
        losses.append(found["loss"].detach().clone())
    results["losses"] = torch.stack(losses)
    unused = {n for n, p in model.named_parameters() if p.requires_grad and p.grad is None}
    state = dict(model.named_parameters()) | {n: b for n, b in model.named_buffers() if n in model.state_dict()}
    results |= {f"param.{n}": x.detach().clone() for n, x in state.items() if x.is_floating_point() and n not in unused}
    return {name: x.float().contiguous() for name, x in results.items()}


def make(case):
    build, inputs, types, dims = CASES[case]
    torch.manual_seed(0)
    model = build().train()
    folder = HERE / case
    folder.mkdir(exist_ok=True)
    torch.jit.save(torch.jit.script(model), folder / "scripted.pt")
    exported.tidy_script(folder / "scripted.pt")
    if case == "nested":
        held = containers.Held(), ({"Words": numbers(2, 4), "b.1": numbers(4)}, [numbers(2, 4)] * 2, (numbers(4), numbers(4)))
        torch.jit.save(torch.jit.trace(*held), folder / "traced.pt")
        exported.tidy_script(folder / "traced.pt")
    save_file({name: x.clone() for name, x in flat(inputs).items()}, folder / "inputs.safetensors")
    golden = train(model, inputs, torch.float32)
    save_file(golden, folder / "golden.safetensors")
    save_file(train(model, inputs, torch.float64), folder / "golden64.safetensors")
    meta = {"files": [], "loss": "output:loss", "optimizer": "sgd", "lr": RATE, "steps": STEPS, "inputs": types, "dims": dims,
            "dropout": False, "torch": torch.__version__}
    meta |= noise.measure(model, golden, lambda m: train(m, inputs, torch.float32))
    (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n")


def make_refused(case):
    """With the names and lines of this file, which the messages give."""
    folder = HERE / "refused"
    folder.mkdir(exist_ok=True)
    torch.jit.save(torch.jit.script(REFUSED[case]()), folder / f"{case}.pt")
    exported.tidy_script(folder / f"{case}.pt", keeps_lines=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", default=[], metavar="CASE")
    for case in parser.parse_args().cases or [*CASES, *REFUSED]:
        make_refused(case) if case in REFUSED else make(case)
        print(case)


if __name__ == "__main__":
    main()
