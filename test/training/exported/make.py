# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the folders beside it: small models as torch.export.save writes them (but for stack traces), with PyTorch's own training.

    python make.py [CASE...]     (needs torch, torchvision, transformers, onnxscript and safetensors)

Each case has `export.pt2` (the program as exported), `core.pt2` (after run_decompositions) where that trains the
same, `joint.pt2` and `joint_aten.pt2` (with the backward pass, decomposed or not), `traced.pt` (the same module as
TorchScript), `model.onnx` where the operators are of interest there, too, in some `torch24.pt2` and its like (as older
versions of PyTorch write it, by old.py), and what `accc diff` compares with: the batch, loss and gradients of the first
step, and parameters and buffers after the last.
"""

import argparse
import contextlib
import copy
import functools
import json
import pathlib
import sys
import zipfile
from unittest import mock

import torch
from safetensors.torch import save_file
from torch.export.experimental import _export_forward_backward

import derivatives
import models
import operators
from models import REFUSED, listed, named, numbers, tidy, weigh, with_loss

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2] / "python"))
from accc_export import export, export_joint, golden, joint, noise, sizes  # noqa: E402

STEPS, RATE = 3, 0.05


CASES = models.CASES | {
    family: (functools.partial(operators.Operators, family), {"scale": torch.ones(1)}, None, {}) for family in operators.FAMILIES
}


def to_precision(dtype):
    """Converts tensors of reals to this type, complex ones to that of such parts."""
    return lambda x: x.to(dtype) if x.is_floating_point() else x.to(dtype.to_complex()) if x.is_complex() else x


def cloned(inputs):
    """For a forward pass that writes into them."""
    return {name: x.clone() for name, x in inputs.items()}


def reals(tensors):
    """Those with fractions, complex ones as pairs."""
    parts = {name: torch.view_as_real(x) if x.is_complex() else x for name, x in tensors.items()}
    return {name: x.detach().clone() for name, x in parts.items() if x.is_floating_point()}


def train(model, inputs, dtype):
    """`loss` and gradients of the first step, `losses` of all, parameters and buffers after the last."""
    model = copy.deepcopy(model)._apply(to_precision(dtype))
    inputs = {name: to_precision(dtype)(x) for name, x in inputs.items()}
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=RATE)
    results, losses = {}, []
    for step in range(STEPS):
        found = model(**cloned(inputs))
        loss = weigh(found)
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            results["loss"] = loss.detach().clone()
            results |= reals(named(found))
            results |= reals({f"grad.{n}": p.grad for n, p in model.named_parameters() if p.grad is not None})
        optimizer.step()
        losses.append(loss.detach().clone())
    results["losses"] = torch.stack(losses)
    state = dict(model.named_parameters()) | {n: b for n, b in model.named_buffers() if n in model.state_dict()}
    results |= reals({f"param.{n}": x for n, x in state.items()})
    return {name: x.float().contiguous() for name, x in results.items()}


def with_backward(program, runs=True):
    """The program with its backward pass, in core ATen and in the operators that autograd calls. To be prepared it must run."""
    with contextlib.nullcontext() if runs else mock.patch.object(joint, "prepare"):
        joint.prepare(program)
        return {"joint": _export_forward_backward(program), "joint_aten": joint.with_backward(program)}


def keep(model):
    """What puts back the tensors of the model that are no state: exporting and tracing run it."""
    held = {(module, name): x.clone() for module in model.modules() for name, x in vars(module).items() if torch.is_tensor(x)}

    def put_back():
        for (module, name), x in held.items():
            getattr(module, name).copy_(x)

    return put_back


def trace(model, inputs, path):
    """The module with its loss as torch.jit.trace writes it: a dict of a trace holds nothing but tensors."""
    flat = with_loss(model, gives=lambda loss, found: {"loss": loss} | named(found))
    put_back = keep(flat)
    traced = torch.jit.trace(flat, example_kwarg_inputs=cloned(inputs), check_trace=False, strict=False)
    traced.load_state_dict(model.state_dict(), strict=False)  # tracing ran it
    put_back()
    torch.jit.save(traced, path)


def tidy_script(path, keeps_lines=False):
    """Writes the archive again, small, without what names folders of this machine: its own, from which it runs."""
    with zipfile.ZipFile(path) as archive:
        records = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in records.items():
            if keeps_lines or not name.endswith((".debug_pkl", "serialization_id")):
                content = content.replace(str(pathlib.Path.cwd()).encode(), b"/" * len(str(pathlib.Path.cwd())))
                archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


def write_onnx(model, inputs, path):
    """The module with its loss as an ONNX model."""
    flat = with_loss(model, gives=lambda loss, found: (loss, *listed(found)))
    export(flat, inputs, path, exporter="dynamo-folded", output_names=["loss", *named(model(**inputs))])


UNEXPORTED = ("covariances", "ragged")
"""Operators that torch.export does not take."""
UNTRACED = ("curved", "steered", "stopped", "paused", "opposed", "measured", "itemized", "mapped", "followed", "spliced")
"""A trace does not hold where gradients stop, calls no module with other parameters, no graphs and no torch.vmap, has tensors
for sizes, and takes no masks of booleans; of TorchScript, operators on lists of tensors are refused."""
UNDECOMPOSED = ("counted", "overwritten", "curved", "stopped", "paused", "recalled", "opposed", "normed", "placed", "projected", "masked", "culled", "sifted", "graded", "attended", "lengthened", "followed")
"""Decomposition takes no attributes that change, loses where gradients stop and what is overwritten, makes operators of some whose results depend on
data, takes the number of elements that a mask selects for a size, and nothing but long graphs of recurrent
layers, of which `recurrent` is one."""
UNJOINED = ("headed", "counted", "determinants", "itemized", "distances", "factored", "matched", "packed", "complex_written", "complex_solved", "spectral", "spectra", "reshaped", "placed", "taught", "followed", "steered", "renewed", "segments", "pooled", "covered", "masked", "culled", "sifted", "graded", "attended", "singled")
"""Operators whose backward passes have other operators, or which PyTorch itself does not join."""
UNRUN = ("kernels",)
"""Operators that no CPU runs."""
IN_ONNX = ("sampled", "spectral", "translated", "picked", "located", "singled", "spliced")
"""Operators that ONNX has, too."""


def programs(case, model, inputs, dynamic):
    """What torch.export makes of the module, by the name of the file."""
    if case in UNEXPORTED:
        return {}
    whole = with_loss(model)
    put_back = keep(whole)
    program = torch.export.export(whole, (), kwargs=inputs, dynamic_shapes=dynamic)
    put_back()
    found = {"export": program}
    if case not in UNDECOMPOSED:
        found["core"] = program.run_decompositions()
    if case not in UNJOINED:
        detached = torch.export.export(with_loss(model, detached=True), (), kwargs=inputs, dynamic_shapes=dynamic)
        found |= with_backward(detached, runs=case not in UNRUN)
    return found


def make(case):
    build, inputs, dynamic, dims = CASES[case]
    torch.manual_seed(0)
    model = build().train()
    folder = HERE / case
    folder.mkdir(exist_ok=True)
    files = []
    with sizes.traced_alignments():
        found = programs(case, model, inputs, dynamic)
    for name, program in found.items():
        torch.export.save(program, folder / f"{name}.pt2")
        is_joint = name.startswith("joint")
        tidy(folder / f"{name}.pt2", zipfile.ZIP_DEFLATED if case in operators.FAMILIES or is_joint else zipfile.ZIP_STORED)
        files += [{"file": f"{name}.pt2", "loss": ""}] * is_joint
    if case not in UNTRACED + UNRUN:
        trace(model, inputs, folder / "traced.pt")
        tidy_script(folder / "traced.pt")
    if case in IN_ONNX:
        write_onnx(model, inputs, folder / "model.onnx")
    save_file(inputs, folder / "inputs.safetensors")
    trained = train(model, inputs, torch.float32)
    save_file(trained, folder / "golden.safetensors")
    save_file(train(model, inputs, torch.float64), folder / "golden64.safetensors")
    meta = {"files": files, "loss": "output:loss", "optimizer": "sgd", "lr": RATE, "steps": STEPS, "dims": dims,
            "dropout": False, "torch": torch.__version__}
    meta |= noise.measure(model, trained, lambda m: train(m, inputs, torch.float32))
    (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n")


def make_derived(case):
    """A joint graph of what autograd runs: forward takes derivatives."""
    build, inputs = derivatives.cases()[case]
    torch.manual_seed(0)
    golden(build(), inputs, HERE / case, exporter="joint", loss="output:loss", lr=RATE, steps=STEPS)
    tidy(HERE / case / "model.pt2", zipfile.ZIP_DEFLATED)


def make_evaluated():
    """A joint graph and what its forward gives in evaluation, for test/cli/evaluation_test.py."""
    torch.manual_seed(0)
    model, inputs, folder = derivatives.Settled(), {"x": torch.randn(5, 4)}, HERE.parent / "evaluated"
    folder.mkdir(exist_ok=True)
    export_joint(model, inputs, folder / "model.pt2", loss="output:loss")
    tidy(folder / "model.pt2", zipfile.ZIP_DEFLATED)
    save_file({name: x.detach() for name, x in inputs.items()}, folder / "inputs.safetensors")
    save_file({name: x.detach() for name, x in model.eval()(**inputs).items()}, folder / "outputs.safetensors")


def make_refused(case):
    folder = HERE / "refused" / case
    folder.mkdir(parents=True, exist_ok=True)
    torch.export.save(torch.export.export(REFUSED[case](), (numbers(2, 3),)), folder / "export.pt2")
    tidy(folder / "export.pt2", zipfile.ZIP_STORED)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", default=[], metavar="CASE")
    options = parser.parse_args()
    derived = derivatives.cases()
    for case in options.cases or [*CASES, *derived, *REFUSED]:
        (make_refused if case in REFUSED else make_derived if case in derived else make)(case)
        print(case)
    if not options.cases:
        make_evaluated()


if __name__ == "__main__":
    main()
