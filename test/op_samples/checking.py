# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports samples, runs them through accc, and compares results and gradients with PyTorch's."""

import copy
import dataclasses
import pathlib
import re
import subprocess
import sys
import warnings

import torch
import torch.utils._pytree as pytree
from safetensors.torch import load_file, save_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test")]

import accc_export  # noqa: E402
import moving  # noqa: E402
import precision as precisions  # noqa: E402
import targets  # noqa: E402
from accc_export import joint  # noqa: E402
from accc_export.traced_joint import trace_joint  # noqa: E402

PROGRAMS = ("export", "core", "joint")  # of torch.export
FORMATS = {"export": ".pt2", "core": ".pt2", "joint": ".pt2", "derived": ".pt2", "traced": ".pt", "scripted": ".pt", "onnx": ".onnx"}
JOINT = ("joint", "derived")  # hold the backward pass, the second that of derivatives which forward takes
# A tensor may be this many times as far from PyTorch's as PyTorch's is from its own in double precision, and in any case as
# far as a few roundings of single precision, or the last place of 16 bits if it or what the module is given is of them. Of a
# module that is given nothing but double precision, one number in single precision shows.
FACTOR, RELATIVE, ABSOLUTE = 16, 2e-5, 1e-6
LAST_PLACE = {torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}
DOUBLE = 2e-10


class Unjudged(Exception):
    """Why no numbers were compared."""

    verdict: str


class NoExport(Unjudged):
    """PyTorch writes no file, or one that is wrong itself."""

    verdict = "no export"


class Refused(Unjudged):
    """accc says why it does not take the file."""

    verdict = "refused"


class Crash(Unjudged):
    """accc ends without a word of its own or not at all, or a kernel does what it must not."""

    verdict = "crash"


class Decided(Unjudged):
    """Rounding does what is wrong in mixed precision: it moves PyTorch's numbers as far."""

    verdict = "rounding"


class TooSlow(Unjudged):
    """A library's run takes longer than allowed: on a machine that interprets its kernels, no fault."""

    verdict = "too slow"


@dataclasses.dataclass
class Compiler:
    """A build of accc, what it compiles for and in which precision, and the seconds that a run of a library and a compile may take."""

    accc: pathlib.Path
    target: targets.Target
    seconds: float
    compile_seconds: float = 60
    precision: precisions.Precision = precisions.Precision()

    def compile(self, path, library, *options):
        report = library.with_suffix(".json")
        self._call("compile", path, "-o", library, "--report", report, *self.target.options, *options, seconds=self.compile_seconds)
        self.target.check_compiled(report)

    def run(self, library, *options):
        self._call("run", library, *options, seconds=self.seconds, env=self.target.environment or None)

    def _call(self, *arguments, seconds, env=None):
        command = [str(x) for x in (self.accc, *arguments)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, errors="replace", env=env)
        except subprocess.TimeoutExpired:
            slow = TooSlow if arguments[0] == "run" and self.target.environment else Crash
            raise slow(f"no end of `accc {arguments[0]}` after {seconds:.0f} s") from None
        said = "\n".join(re.findall(r"error: .*", done.stderr))
        if targets.FAULT in done.stderr:
            raise Crash(f"exit {done.returncode}: {done.stderr[done.stderr.index(targets.FAULT):][:800]}")
        if done.returncode in (1, 2) and said:
            raise Refused(said[:600])
        if done.returncode != 0:
            raise Crash(f"exit {done.returncode}: {done.stderr[-800:]}")


def check(module, format, compiler, folder):
    """The lines of what is wrong with the module in a format."""
    single = reference(module, as_given)
    try:
        double = reference(module, in_double)
    except Exception:  # an operator of single precision alone
        if len(module.samples) > 1:
            raise
        double = single
    path = folder / f"model{FORMATS[format]}"
    write(module, format, path)
    relative = rounding_of(given(module))
    found = found_by_accc(module, format, path, compiler, folder)
    wrong = compare(found, single, double, relative)
    if wrong and compiler.precision.is_mixed:
        expected = mixed_reference(module, single, double, compiler.precision, format)
        wrong = expected.unexplained(wrong, found)
    if wrong and format == "onnx" and (message := found_in_file(module, path, single, double, relative)):
        raise NoExport(f"the file computes other numbers by ONNX's reference evaluator: {message}")
    if wrong and format in ("scripted", "traced") and (message := found_in_script(module, path, single, double, relative)):
        raise NoExport(f"the file computes other numbers in PyTorch, too: {message}")
    if wrong and format in JOINT and (message := found_in_joint_graph(module, path, single, double, relative)):
        raise NoExport(f"PyTorch's joint graph computes other numbers in PyTorch, too: {message}")
    if wrong and format in PROGRAMS and (message := found_in_program(module, format, single, double, relative)):
        raise NoExport(f"PyTorch's exported program computes other numbers in PyTorch, too: {message}")
    if wrong and compiler.precision.is_mixed and moving.decides(expected, lambda move: reference(module, move), wrong):
        raise Decided("\n".join(wrong))
    return wrong


def reference(module, convert, precision=precisions.Precision(), scale=1.0):
    """PyTorch's results and gradients, with the module's tensors converted, in a precision in which the loss has a scale."""
    module = copy.deepcopy(module)._apply(convert)
    for sample in module.samples:
        sample.leaves = [convert(x) for x in sample.leaves]
    return results(module, {name: convert(x) for name, x in module.inputs.items()}, precision, scale)


def as_given(x):
    return x


def in_double(x):
    return x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x


def results(module, inputs, precision=precisions.Precision(), scale=1.0):
    """What a module gives, its buffers after that, and the gradients of its parameters."""
    with precision.running():
        found = module(**inputs)
    loss = found.pop("loss")
    found |= {f"buffer.{name}": x for name, x in module.named_buffers()}
    parameters = dict(module.named_parameters())
    gradients = [None] * len(parameters)
    if loss.requires_grad:
        gradients = torch.autograd.grad(scale * loss, list(parameters.values()), allow_unused=True)
    for (name, parameter), gradient in zip(parameters.items(), gradients):
        found[f"grad.{name}"] = torch.zeros_like(parameter) if gradient is None else gradient / scale
    return {name: x.detach().clone() for name, x in found.items()}  # PyTorch has zeros without memory


def write(module, format, path):
    inputs = {name: x.clone() for name, x in module.inputs.items()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if format == "onnx":
                accc_export.export(module, inputs, path, exporter="dynamo")
            elif format == "traced":
                torch.jit.save(traced(module, tuple(inputs.values())), path)
            elif format == "scripted":
                torch.jit.save(torch.jit.script(module), path)
            elif format == "derived":
                torch.export.save(trace_joint(module, tuple(inputs.values())), path)
            else:
                program = torch.export.export(module, (), kwargs=inputs)
                program = program.run_decompositions() if format == "core" else program
                torch.export.save(joint.with_backward(program) if format == "joint" else program, path)
    except Exception as error:
        raise NoExport(f"{type(error).__name__}: {str(error)[:300]}") from None


def traced(module, inputs):
    """The module as TorchScript, with its tensors as they were before it was traced."""
    state = lambda x: [*x.named_parameters(), *x.named_buffers()]  # noqa: E731
    before = {name: x.detach().clone() for name, x in state(module)}
    script = torch.jit.trace(module, inputs, strict=False, check_trace=False)
    with torch.no_grad():
        for name, x in [*state(module), *state(script)]:
            x.copy_(before[name])
    return script


def found_by_accc(module, format, path, compiler, folder):
    """accc's results and gradients, and buffers after a step."""
    library, inputs, outputs = folder / "model.so", folder / "inputs.safetensors", folder / "outputs.safetensors"
    trained = folder / "trained.safetensors"
    loss = [] if format in JOINT else ["--loss", "output:loss"]
    given = [f"--input={described(name, x)}" for name, x in module.inputs.items()] if format == "scripted" else []
    mixed = compiler.precision.options(format in JOINT)
    compiler.compile(path, library, "--optimizer", "sgd", "--weights", "embed", "-q", *loss, *given, *mixed)
    save_file(module.inputs, inputs)
    step = ["--allow-nonfinite", "--inputs", inputs]
    compiler.run(library, *step, "--entry", "grad_step", "--outputs", outputs)
    found = load_file(outputs)
    if list(module.buffers()):
        compiler.run(library, *step, "--lr", "0", "--save-params", trained)
        found |= {f"buffer.{name}": x for name, x in load_file(trained).items()}
    return found


def described(name, x):
    """An input as --input takes it."""
    return f"{name}={str(x.dtype).removeprefix('torch.')}[{','.join(map(str, x.shape))}]"


def rounding_of(tensors):
    """The relative distance that rounding explains where a module is given these."""
    types = {x.dtype for x in tensors if x.is_floating_point() or x.is_complex()}
    if types and types <= {torch.float64, torch.complex128}:
        return DOUBLE
    return max([LAST_PLACE.get(x, RELATIVE) for x in types], default=RELATIVE)


def given(module):
    return [*module.parameters(), *module.buffers(), *module.inputs.values()]


def compare(found, single, double, relative):
    """A line for each tensor that differs. A gradient that is zero may be missing."""
    wrong = []
    for name, expected in single.items():
        if name in found:
            message = difference(found[name], expected, double[name], relative)
        elif expected.numel() == 0 or (name.startswith("grad.") and not expected.any()) or name.startswith("buffer."):
            message = ""  # a buffer that no step writes is a constant
        else:
            message = "is not there"
        if message:
            wrong.append(f"{name} {message}")
    return wrong


@dataclasses.dataclass
class MixedReference:
    """What PyTorch gives in single and in double precision, and under autocast as numbers of single precision."""

    precision: precisions.Precision
    single: dict
    double: dict
    rounded: dict

    def __post_init__(self):
        differs = lambda name, x: self.precision.has_products or difference(x, self.single[name], self.double[name], RELATIVE)  # noqa: E731
        self.samples = {sample_of(name) for name, x in self.rounded.items() if differs(name, x)}

    def compare(self, found):
        """As the function of this name."""
        return self.unexplained(compare(found, self.single, self.double, RELATIVE), found)

    def unexplained(self, wrong, found):
        """Of the lines of what differs in single precision, those that rounding to 16 bits does not explain."""
        return [line for line in wrong if not self._explains(name_of(line), found)]

    def are_rounded(self, lines):
        """Whether these are about samples in which autocast rounds something."""
        return all(sample_of(name_of(line)) in self.samples for line in lines)

    def _explains(self, name, found):
        both = name in found and sample_of(name) in self.samples
        return both and self.precision.explains(found[name], self.rounded[name], self.double[name])


def mixed_reference(module, single, double, precision, format):
    rounded = reference(module, as_given, precision, precision.scale(format in JOINT))
    return MixedReference(precision, single, double, {name: x.to(single[name].dtype) for name, x in rounded.items()})


def name_of(line):
    """Of the tensor that a line of `compare` is about."""
    return line.split(" ")[0]


def sample_of(name):
    """The number of the sample whose result, gradient or buffer this is."""
    match = re.match(r"(?:y|(?:grad|buffer)\.[pm])(\d+)", name)
    return match and int(match[1])


def difference(found, expected, exact, relative):
    """In what a tensor differs from PyTorch's, given PyTorch's in double precision and what rounding explains."""
    both = f"{found.flatten()[:6].tolist()}, PyTorch's {expected.flatten()[:6].tolist()}"
    if found.shape != expected.shape:
        return f"has the shape {list(found.shape)}, PyTorch's {list(expected.shape)}"
    if found.dtype != expected.dtype and (found.is_floating_point() or expected.is_floating_point()):
        return f"is of {found.dtype}, PyTorch's of {expected.dtype}"
    if not expected.is_floating_point():
        return "" if torch.equal(found.long(), expected.long()) else f"is {both}"
    a, b = found.double(), expected.double()
    exact = exact.double() if exact.shape == b.shape else b
    if expected.dtype in LAST_PLACE:
        b = beyond_overflow(a, b, exact)
    infinite = torch.isinf(b)
    if not torch.equal(a.isnan(), b.isnan()) or not torch.equal(a[infinite], b[infinite]):
        return f"has other NaN or infinities: {both}"
    a, b, exact = (torch.where(torch.isfinite(x), x, 0) for x in (a, b, exact))
    distance, size = (a - b).norm().item(), b.norm().item()
    allowed = max(LAST_PLACE.get(expected.dtype, relative) * size, FACTOR * (b - exact).norm().item()) + min(ABSOLUTE, relative / 20)
    return "" if distance <= allowed else f"is off by {distance:.3g} of {size:.3g}: {both}"


def beyond_overflow(a, b, exact):
    """What is expected of accc's elements, where PyTorch's steps overflow in 16 bits on their way to an ordinary number: this
    number, as accc's steps are of single precision, or an infinity."""
    overflowed = ~b.isfinite() & exact.isfinite()
    return torch.where(overflowed & ~a.isnan(), torch.where(a.isinf(), a, exact), b)


def found_in_file(module, path, single, double, relative):
    """Where ONNX's own evaluator gives other results than PyTorch, too: the first of them."""
    import onnx.reference

    try:
        evaluator = onnx.reference.ReferenceEvaluator(str(path))
        inputs = {name: to_numpy(module.inputs[name]) for name in evaluator.input_names}
        names = [name for name in evaluator.output_names if name in single]
        found = {name: from_numpy(x) for name, x in zip(names, evaluator.run(names, inputs))}
    except Exception:  # an operator that it lacks, say: nothing is known
        return ""
    return next(iter(compare(found, {name: single[name] for name in names}, double, relative)), "")


def to_numpy(x):
    import ml_dtypes

    return x.view(torch.int16).numpy().view(ml_dtypes.bfloat16) if x.dtype == torch.bfloat16 else x.numpy()


def from_numpy(x):
    return torch.from_numpy(x.view("int16")).view(torch.bfloat16) if str(x.dtype) == "bfloat16" else torch.from_numpy(x)


def found_in_program(module, format, single, double, relative):
    """Where PyTorch's own run of the exported program gives other results or gradients than the module: the first of them."""
    try:
        found = results(program(module, format).module(), {name: x.clone() for name, x in module.inputs.items()})
    except Exception:  # nothing is known
        return ""
    return next(iter(compare(found, {name: single[name] for name in found if name in single}, double, relative)), "")


def found_in_joint_graph(module, path, single, double, relative):
    """Where PyTorch's own run of a joint graph gives other results or gradients than the module: the first of them."""
    made = torch.export.load(path)
    held = {**made.state_dict, **made.constants, **module.inputs}
    with torch.no_grad():
        results = made.graph_module(*(held[spec.target or spec.arg.name].clone() for spec in made.graph_signature.input_specs))
    returned, found = [], {}
    for spec, result in zip(made.graph_signature.output_specs, results):
        if spec.kind.name == "GRADIENT_TO_PARAMETER":
            found[f"grad.{spec.target}"] = result
        elif spec.kind.name in ("LOSS_OUTPUT", "USER_OUTPUT"):
            returned.append(result)
    found |= pytree.tree_unflatten(returned, made.module_call_graph[0].signature.out_spec)
    return next(iter(compare(found, {name: single[name] for name in found if name in single}, double, relative)), "")


def program(module, format):
    """What torch.export makes of the module; for the format of joint graphs what their forward pass is made from."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = torch.export.export(module, (), kwargs={name: x.clone() for name, x in module.inputs.items()})
        return made if format == "export" else made.run_decompositions()


def found_in_script(module, path, single, double, relative):
    """Where PyTorch's own run of what the file holds gives other results than the module: the first of them."""
    found = torch.jit.load(path)(**{name: x.clone() for name, x in module.inputs.items()})
    found = {name: x.detach() for name, x in found.items() if name in single}
    return next(iter(compare(found, {name: single[name] for name in found}, double, relative)), "")
