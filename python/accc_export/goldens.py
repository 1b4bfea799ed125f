# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Goldens: what PyTorch makes of a training step, for `accc diff` to compare with."""

import contextlib
import json
import os
import pathlib
import re
from collections.abc import Sequence

import torch
from safetensors.torch import save_file
from torch.utils._pytree import tree_leaves, tree_map

from .aliases import followed
from .bodies import BodiesMode
from .calls import Call, Inputs, make_call
from .errors import ExportError, warn
from .exporters import EXPORTERS
from .exporting import Dynamic, Export, export, export_joint
from .files import whole_folder
from .functions import parts
from .modules import copied, preserved
from .noise import measure, move
from .programs import JOINT, PROGRAM
from .training import HALF, Groups, Loss, Optimizer, WeightAverage, learning_rate, make_loss, takes_target, widened

MIXED = {"bf16": torch.bfloat16, "fp16": torch.float16}
"""The types of mixed precision, by `accc compile --precision`."""


def golden(
    module: torch.nn.Module,
    inputs: Inputs,
    directory: str | os.PathLike,
    *,
    loss: str,
    target: torch.Tensor | None = None,
    optimizer: str = "sgd",
    lr: float | None = None,
    param_groups: Groups = (),
    average_weights: str | None = None,
    steps: int = 10,
    dynamic: Dynamic | None = None,
    exporter: str | Sequence[str] = "auto",
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    precision: str = "fp32",
    double: bool = True,
    noise: bool = True,
    moved: int = 0,
    extra: dict | None = None,
) -> list[Export]:
    """Trains a copy of `module` on one batch, `steps` times, and writes what `accc diff` compares.

    `directory` gets the model as `model.onnx` (and `<exporter>.onnx` for every further exporter of a list); "torch.export"
    and "joint" give `.pt2` files in their place, of `export` and `export_joint`. Beside it stand the batch, the loss, outputs and gradients of the first step, the parameters and statistics after the last, and all of it
    again in float64 unless `double` is off, or the module computes in float64 anyway. It appears whole, in place of goldens that were there; a folder of anything else is
    refused. With no `steps` nothing is run: the folder holds the model and the batch alone.

    `loss` and `optimizer` are those of `accc compile --loss` and `--optimizer`, with their options; PyTorch's own
    compute them. `lr` is the learning rate, by default the optimizer's. `param_groups` are those of `--param-group`:
    regular expressions with options, as in [("bias$", "weight_decay=0"), ("^words", "sgd,lr=0.1")]. `average_weights`
    is that of `--average-weights`, as in "ema,decay=0.99": the averages after the last step are written as well. A module that draws random numbers (dropout)
    has no goldens, as no two implementations draw the same: mean and deviation of its first loss are written.

    `precision` is that of `accc compile --precision`, "fp32", "bf16" or "fp16". For the last two the module runs under
    `torch.autocast` in bfloat16 or float16, the loss in float32: `accc diff` then passes what is at most twice as far from the run in
    float64. For "fp16" `torch.amp.GradScaler` scales the loss, from the start by a quarter of the greatest scale that keeps the gradients
    of all steps finite: one that skipped a step would compare what rounding decides.

    Small gradients and updates are held to their own size, and to what rounding decides: four more runs, from weights
    that are moved by some floats, measure that. Without `noise` there are none, and `accc diff` passes any gradient below
    its tolerance.

    `moved` writes so many runs of modules whose every weight is moved to the next float, to be compared as well.
    `extra` goes into `meta.json`.

    The other arguments are those of `export`.
    """
    if precision != "fp32" and precision not in MIXED:
        raise ExportError(f"the precision {precision}: there are fp32, {' and '.join(MIXED)}")
    if type(steps) is not int or steps < 0:
        raise ExportError(f"steps is {steps}: it is how many steps are run, 0 or more")
    if takes_target(loss) == (target is None):
        raise ExportError(f"the loss {loss} {'needs a target' if target is None else 'takes no target'}")
    directory = pathlib.Path(directory)
    exporters = [exporter] if isinstance(exporter, str) else list(exporter)
    call = make_call(module, inputs, input_names)
    if target is not None and "target" in call.inputs:
        raise ExportError("an input is called target, as the loss's is: give it another name in input_names")
    _require_replaceable(directory)
    with whole_folder(directory) as folder:
        options = {"dynamic": dynamic, "input_names": input_names, "output_names": output_names}
        files, exports = _export_all(module, inputs, exporters, folder, {"loss": loss, "target": target}, options)
        _require_own_names(exports[0].returned)
        with preserved(module):
            run = GoldenRun(module, call, exports[0], loss, target, optimizer, lr, steps, precision, param_groups, average_weights)
            scale = {} if run.loss_scale is None else {"loss_scale": f"dynamic,init_scale={run.loss_scale:.17g}"}
            meta = {
                "files": files,
                "loss": loss,
                "optimizer": optimizer,
                "lr": run.lr,
                "steps": steps,
                "precision": precision,
                **scale,
                **({"param_groups": [list(group) for group in param_groups]} if param_groups else {}),
                **({"average_weights": average_weights} if average_weights else {}),
                "dims": exports[0].dims,
                "dropout": exports[0].random,
                "torch": torch.__version__,
                **(extra or {}),
            }
            batch = dict(call.inputs) if target is None else {**call.inputs, "target": widened(target)}
            save_tensors(batch, folder / "inputs.safetensors")
            if steps == 0:
                pass
            elif meta["dropout"]:
                meta["loss_mean"], meta["loss_std"] = run.losses_over_seeds()
            else:
                meta |= run.write(folder, double, noise, moved)
        (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n")
    return exports


_OF_GOLDENS = re.compile(
    r"(inputs|golden|golden64|moved\d+)\.safetensors|meta\.json|.+\.(onnx|pt2|pt)|.+\.onnx\.data-[0-9a-f]+"
)


def _require_replaceable(directory: pathlib.Path) -> None:
    """A folder that goldens replace is gone with all that it holds: it must be one of goldens, or empty."""
    held = sorted(x.name for x in directory.iterdir()) if directory.is_dir() else []
    others = [name for name in held if not _OF_GOLDENS.fullmatch(name)]
    if not others and held and "meta.json" not in held:
        others = held
    if others:
        raise ExportError(f"{directory} holds {others[0]}, which would be lost: goldens get a folder of their own")


_NAMES = re.compile(r"losses|(grad|param|state|losses|grad_step|eval_step|average_eval_step)[. ].*")
"""What goldens call something other than outputs."""


def _require_own_names(outputs: Sequence[str]) -> None:
    if taken := [name for name in outputs if _NAMES.fullmatch(name)]:
        raise ExportError(f"an output is called {taken[0]}, a name that goldens give to something else: give it another one in output_names")


def _export_all(module, inputs, exporters, folder, loss, options):
    """The model files; returns what meta.json says of them, and what `export` does."""
    files, exports = [], []
    known = ("auto", *EXPORTERS, PROGRAM, JOINT)
    if unknown := [exporter for exporter in exporters if exporter not in known]:
        raise ExportError(f"there is no exporter {unknown[0]!r}: choose {', '.join(known)}")
    if options["dynamic"] and len({exporter in (PROGRAM, JOINT) for exporter in exporters}) > 1:
        raise ExportError("open dimensions have other names in ONNX than in programs of torch.export: make a golden of each")
    for exporter in exporters:
        path = folder / f"{exporter if files else 'model'}.{'pt2' if exporter in (PROGRAM, JOINT) else 'onnx'}"
        if exporter == JOINT:
            done = export_joint(module, inputs, path, **loss, **options)
        else:
            done = export(module, inputs, path, exporter=exporter, **options)
        if exports and set(done.parameters) != set(exports[0].parameters):
            difference = ", ".join(sorted(set(done.parameters) ^ set(exports[0].parameters)))
            raise ExportError(f"the exporters {exports[0].exporter} and {exporter} differ in {difference}")
        exports.append(done)
        files.append({"file": path.name, "exporter": done.exporter, "opset": done.opset})
        if exporter == JOINT:
            files[-1]["loss"] = ""  # the file holds it
        # TorchScript's files do not tell a buffer such as an attention mask from a parameter.
        if frozen := [*done.frozen, *(done.buffers if done.exporter == "torchscript" else ())]:
            files[-1]["freeze"] = frozen
    return files, exports


class GoldenRun:
    """The training of copies of one module on one batch."""

    def __init__(
        self,
        module,
        call: Call,
        done: Export,
        loss: str,
        target,
        optimizer: str,
        lr,
        steps: int,
        precision: str = "fp32",
        groups: Groups = (),
        average: str | None = None,
    ) -> None:
        self.module, self.call, self.done, self.target, self.steps = module, call, done, target, steps
        self.precision = precision
        self.optimizer, self.groups, self.average = optimizer, groups, average
        self.loss: Loss = make_loss(loss, done.returned)
        self.lr = learning_rate(optimizer, lr)
        self.loss_scale: float | None = None
        if precision == "fp16":
            self.loss_scale = self._greatest_scale() / 4

    def _greatest_scale(self) -> float:
        """The greatest from 2^16 down with which no step is skipped."""
        scale = 2.0**16
        if self.steps == 0 or self.done.random:
            return scale
        while scale > 2.0**-16:
            self.loss_scale = scale
            self.train(self._copy(), torch.float32)
            if self.last_scale == scale:
                return scale
            scale = self.last_scale
        raise ExportError("the gradients are not finite in float16, whatever the loss is scaled by: use precision='bf16'")

    def losses_over_seeds(self) -> tuple[float, float]:
        """Mean and standard deviation of the first step's loss over the masks of dropout."""
        large = sum(p.numel() for p in self.module.parameters()) > 10**6
        values = torch.stack([self._first_loss(seed).double() for seed in range(8 if large else 32)])
        return values.mean().item(), values.std().item()

    def write(self, folder: pathlib.Path, double: bool, noise: bool, moved: int) -> dict:
        """Writes golden.safetensors, as many of a moved module, and, rounded to float32, golden64.safetensors; gives
        what meta.json says of them.

        The rounding moves a value by 6e-8 of itself at most, far below what the comparison can see. A module in float64 has no
        golden64.safetensors; accc diff holds it to the digits of float64.
        """
        with _Floats() as floats:
            golden = self.train(self._copy(), torch.float32)
        halves = not floats.seen.isdisjoint(HALF)
        is_double = floats.seen == {torch.float64} and not self._counts_in_single()  # the run is the one in float64
        save_tensors(golden, folder / "golden.safetensors")
        for seed in range(1, moved + 1):
            save_tensors(self.train(move(self._copy(), seed), torch.float32), folder / f"moved{seed}.safetensors")
        if double and not is_double:
            with _InDouble() if halves else contextlib.nullcontext():
                doubled = self._write_double(folder)
            if doubled is not None and not halves:
                _warn_of_another(golden["loss"], doubled)
        types = {"double": True} if is_double else {}
        if halves and self.precision not in MIXED:  # autocast makes some of any module
            types = {"half": True}
        return types if not noise else types | measure(self.module, golden, lambda module: self.train(module, torch.float32), self.precision)

    def _counts_in_single(self) -> bool:
        """Whether an optimizer of PyTorch's keeps a number in float32 beside parameters in float64: the product of NAdam's momenta."""
        return any(spec.split(",")[0] == "nadam" for spec in (self.optimizer, *(options for _, options in self.groups)))

    def _write_double(self, folder: pathlib.Path) -> torch.Tensor | None:
        """Returns the loss of the first step."""
        try:
            results = self.train(self._copy(), torch.float64)
        except RuntimeError as error:  # a module may hold float32 where nobody can see it
            warn(f"no run in float64: {error}")
            return None
        save_tensors({name: _to(x, torch.float32) for name, x in results.items()}, folder / "golden64.safetensors")
        return results["loss"]

    def train(self, module: torch.nn.Module, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        """`loss`, outputs and `grad.<parameter>` of the first step, `losses` of all, `param.<tensor>` after the last.

        With averages of weights also `state.optimizer.ema.<parameter>`. All in float64, or else in the types that the module has."""
        torch.manual_seed(0)
        inputs, target = list(self.call.inputs.values()), self.target
        if dtype == torch.float64:
            with followed(module):
                module = module._apply(lambda x: _to(x, dtype))  # Module.to(dtype) would drop imaginary parts
            inputs, target = [_to(x, dtype) for x in inputs], _to(target, dtype)
        tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        named = ((n, p) for n, p in module.named_parameters(remove_duplicate=False) if p.requires_grad)
        optimizer = Optimizer(self.optimizer, self.lr, named, self.groups)
        average = None if self.average is None else WeightAverage(self.average, ((n, tensors[n]) for n in self.done.parameters))
        mixed = self._is_mixed(dtype)
        scaler = torch.amp.GradScaler(_device(module), self.loss_scale or 1.0, enabled=mixed and self.precision == "fp16")
        results, history = {}, []
        for step in range(self.steps):
            outputs = self._run(module, inputs, dtype)
            loss = self.loss(outputs, target)
            if not loss.requires_grad:
                raise ExportError("no parameter that is trained has a gradient of the loss: there is nothing to train")
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            for each in optimizer.torch:
                scaler.unscale_(each)
            if step == 0:
                results.update({name: x.detach().clone() for name, x in outputs.items()})
                results["loss"] = loss.detach().clone()
                gradients = {name: tensors[name].grad for name in self.done.parameters}
                results.update({f"grad.{n}": _dense(x).clone() for n, x in gradients.items() if x is not None})
            optimizer.step(scaler)
            scaler.update()
            if average is not None:
                average.update()
            history.append(loss.detach().clone())
        self.last_scale = scaler.get_scale()
        results["losses"] = torch.stack(history)
        tensors |= dict(module.named_buffers())  # a step may have set others
        held = (*self.done.parameters, *self.done.statistics)
        results.update({f"param.{name}": tensors[name].detach().clone() for name in held})
        if average is not None:
            results.update({f"state.optimizer.ema.{n}": x for n, x in average.averages.items() if f"grad.{n}" in results})
        return results

    def _run(self, module: torch.nn.Module, inputs: list | None, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        """The module's outputs, in float32 by the golden's precision; those that this left in 16 bits as float32."""
        mixed = self._is_mixed(dtype)
        autocast = torch.autocast(_device(module), MIXED.get(self.precision), enabled=mixed)
        with autocast, _no_onednn() if mixed and self.precision == "fp16" else contextlib.nullcontext():
            outputs = dict(zip(self.done.returned, self.call.run(module, inputs).values()))
        return {name: widened(x) for name, x in outputs.items()} if mixed else outputs

    def _is_mixed(self, dtype: torch.dtype) -> bool:
        return self.precision in MIXED and dtype == torch.float32

    def _first_loss(self, seed: int) -> torch.Tensor:
        module = self._copy()
        torch.manual_seed(seed)
        with torch.enable_grad():  # forward may take derivatives
            return self.loss(self._run(module, None, torch.float32), self.target).detach()

    def _copy(self) -> torch.nn.Module:
        return copied(self.module)


_ANOTHER = 0.01
"""By how much of itself the loss of a run in float64 is off where it is not rounding that makes the difference."""


def _warn_of_another(loss: torch.Tensor, doubled: torch.Tensor) -> None:
    """accc diff passes what is as far from the run in float64 as PyTorch's other run is."""
    a, b = loss.double(), doubled.double()
    if (a - b).abs() > _ANOTHER * b.abs() + 1e-6:
        text = (
            f"the loss of the first step is {a.item():.6g}, and {b.item():.6g} in float64: the module does something else there (it asks for a "
            "type, or holds tensors that go with others), or rounding decides its numbers. accc diff passes what is as far off: double=False"
        )
        warn(text)


@contextlib.contextmanager
def _no_onednn():
    """PyTorch's own operators: oneDNN has no LSTM in float16, and PyTorch does not ask it whether it has."""
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(before)


def _device(module: torch.nn.Module) -> str:
    return next((p.device.type for p in module.parameters()), "cpu")


class _Floats(BodiesMode):
    """Watches for the types that floats are computed in.

    Single numbers in float32 do not count: beside tensors in float64 an optimizer counts its steps so. But a function of PyTorch's does that
    has one in its formula.
    """

    ROUNDED = {torch.ops.aten.hardsigmoid_backward.default}  # 1 / 6

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[torch.dtype] = set()

    def operator(self, function, args, kwargs):
        results = function(*args, **kwargs)
        tensors = [x for x in tree_leaves(results) if isinstance(x, torch.Tensor)]
        types = {x.dtype.to_real() for x in tensors if x.dtype != torch.float32 or x.dim() > 0}
        self.seen |= {x for x in types if x.is_floating_point}
        if function in self.ROUNDED:
            self.seen.add(torch.float32)
        return results


class _InDouble(BodiesMode):
    """What a module converts to fewer bits, or makes in them, is in float64: a run of reference rounds nowhere, and what is
    computed in several types has one."""

    def operator(self, function, args, kwargs):
        args, kwargs = tree_map(self._widened, (args, kwargs))
        return function(*args, **kwargs)

    @staticmethod
    def _widened(x):
        return torch.float64 if isinstance(x, torch.dtype) and x in (*HALF, torch.float32) else x


def _to(tensor: torch.Tensor | None, dtype: torch.dtype) -> torch.Tensor | None:
    """Reals as this type, complex numbers as that of such parts; 16-bit floats stay what they are but in float64."""
    if tensor is None or not (tensor.is_floating_point() or tensor.is_complex()):
        return tensor
    if tensor.dtype in HALF and dtype == torch.float32:
        return tensor
    return tensor.to(dtype.to_complex() if tensor.is_complex() else dtype)


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    return (tensor.to_dense() if tensor.is_sparse else tensor).detach()


def save_tensors(tensors: dict[str, torch.Tensor], path: pathlib.Path) -> None:
    """Writes tensors as a safetensors file, complex ones as accc's libraries hold them: with a last dimension of two parts."""
    save_file({name: parts(x.detach().cpu()).contiguous().clone() for name, x in tensors.items()}, path)
