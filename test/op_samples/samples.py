# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The samples of PyTorch's operator tests (OpInfo), and modules of samples whose tensors are parameters and inputs."""

import copy
import dataclasses
import typing
import unittest.mock as mock

import torch
import torch.utils._pytree as pytree

MOST_ELEMENTS = 20_000  # of a sample's greatest tensor


@dataclasses.dataclass
class Sample:
    """A call of an operator or of a module with what it takes: tensors, numbers, lists of them."""

    function: typing.Callable
    leaves: list
    spec: pytree.TreeSpec
    text: str

    def tensors(self):
        return [leaf for leaf in self.leaves if isinstance(leaf, torch.Tensor)]

    def call(self, tensors):
        """The tensors that the operator returns, for these in place of the sample's."""
        rest = iter(tensors)
        leaves = [next(rest) if isinstance(leaf, torch.Tensor) else leaf for leaf in self.leaves]
        args, kwargs = pytree.tree_unflatten(leaves, self.spec)
        return [x for x in pytree.tree_leaves(self.function(*args, **kwargs)) if isinstance(x, torch.Tensor)]

    def is_repeatable(self):
        """Whether PyTorch takes the call, and it needs no random numbers. Some samples set the seed, here without effect."""
        try:
            found = self._called_twice()
        except Exception:
            return False
        return bool(found[0]) and all(a.shape == b.shape and torch.equal(a, b) for a, b in zip(*found))

    def _called_twice(self):
        found = []
        for seed in (1, 2):
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                function = copy.deepcopy(self.function)  # which may have buffers
                called = dataclasses.replace(self, function=function)
                with mock.patch.object(torch, "manual_seed"):
                    results = called.call([x.detach().clone().requires_grad_(x.requires_grad) for x in self.tensors()])
                found.append([torch.nan_to_num(x.detach()) for x in results])
        return found


@dataclasses.dataclass
class OfParts(Sample):
    """A sample with complex tensors, which are held as their parts: parameters and inputs of accc are real."""

    are_parts: list  # for each tensor, whether it is the parts of a complex one

    def call(self, tensors):
        return super().call([torch.view_as_complex(x) if are_parts else x for x, are_parts in zip(tensors, self.are_parts)])


class Derived(Sample):
    """The derivatives of a sample's results, by all of its tensors that have one."""

    def call(self, tensors):
        tensors = list(tensors)
        taken = [x for x in tensors if x.requires_grad]
        results = [torch.view_as_real(x) if x.is_complex() else x for x in super().call(tensors) if x.requires_grad]
        if not results:
            return []
        found = torch.autograd.grad(sum(map(weigh, results)), taken, create_graph=True, allow_unused=True)
        return [x for x in found if x is not None]


def derived(sample):
    return Derived(sample.function, sample.leaves, sample.spec, sample.text)


class Samples(torch.nn.Module):
    """Several samples in one module: tensors that take gradients are its parameters, others its inputs.

    It returns what the operators return, and a loss that weighs the elements of all results with fractions. The
    parameter `unread` is there for operators without a gradient, so that there is something to train, and the input
    `scale` for formats that want at least one.
    """

    def __init__(self, samples):
        super().__init__()
        self.samples, self.inputs, self.names = samples, {"scale": torch.ones(1)}, []
        for i, sample in enumerate(samples):
            if isinstance(sample.function, torch.nn.Module):
                self.add_module(f"m{i}", sample.function)
            self.names.append([self._take(f"{i}_{k}", x) for k, x in enumerate(sample.tensors())])
        self.unread = torch.nn.Parameter(torch.ones(1))
        scope = {}
        taken = ", ".join(f"{name}={name}" for name in self.inputs)
        exec(f"def forward(self, {', '.join(self.inputs)}): return self.compute(dict({taken}))", scope)
        self.forward = scope["forward"].__get__(self)

    def _take(self, name, x):
        copied = x.detach().clone(memory_format=torch.contiguous_format)
        if x.requires_grad:
            self.register_parameter(f"p{name}", torch.nn.Parameter(copied))
            return f"p{name}"
        self.inputs[f"x{name}"] = copied
        return f"x{name}"

    def compute(self, inputs):
        values = {**dict(self.named_parameters()), **inputs}
        loss = values["unread"].sum()
        found = {}
        for i, (sample, names) in enumerate(zip(self.samples, self.names)):
            for k, result in enumerate(sample.call([values[name] for name in names])):
                if result.is_complex():
                    result = torch.view_as_real(result.resolve_conj())
                if result.is_floating_point():
                    loss = loss + weigh(result)
                elif result.dtype == torch.bool:
                    result = result.to(torch.int32)
                found[f"y{i}_{k}"] = (result * 1).detach()  # not a tensor that is also an argument
        return {"loss": loss * values["scale"].sum(), **found}


def weigh(x):
    """A sum of the elements with weights that no permutation keeps."""
    if x.dtype in (torch.float16, torch.bfloat16):
        x = x.float()
    return (x * torch.cos(torch.arange(x.numel(), dtype=torch.float32) + 0.3).view(x.shape).to(x.dtype)).sum()


def operators():
    """The operators of PyTorch's tests, by name."""
    from torch.testing._internal.common_methods_invocations import op_db

    return {f"{info.name}.{info.variant_test_name}".rstrip("."): info for info in op_db}


def operator_samples(info, dtype, limit, beside=None):
    """Samples of an operator as a function, and of the one that writes into its first argument. `beside`: another type, of which
    are some of the tensors of each sample."""
    yield "function", _samples(info, info.get_op(), dtype, limit, beside)
    if info.inplace_variant is not None:
        yield "inplace", _samples(info, lambda x, *args, **kwargs: info.inplace_variant(x.clone(), *args, **kwargs), dtype, limit, beside)


def _samples(info, function, dtype, limit, beside):
    torch.manual_seed(0)
    has_gradients = dtype.is_floating_point or dtype.is_complex
    differentiable = has_gradients and info.supports_autograd and dtype in info.backward_dtypes
    samples = []
    for sample in info.sample_inputs("cpu", dtype, requires_grad=differentiable):
        leaves, spec = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
        leaves = [x.detach().requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else x for x in leaves]
        text = ", ".join(str(list(x.shape)) if isinstance(x, torch.Tensor) else repr(x) for x in leaves)
        are_parts = [x.is_complex() for x in leaves if isinstance(x, torch.Tensor)]
        leaves = [_parts(x) if isinstance(x, torch.Tensor) and x.is_complex() else x for x in leaves]
        samples.append(OfParts(function, leaves, spec, text, are_parts) if any(are_parts) else Sample(function, leaves, spec, text))
    if beside is not None:
        return taken([mixed for i, sample in enumerate(samples) for mixed in _mixed(sample, dtype, beside, i)], limit)
    return taken(samples, limit)


def _mixed(sample, dtype, beside, number):
    """The sample with every second of its tensors of `dtype` in the type `beside`, from the first or the second on by the number;
    nothing where that leaves one type."""
    of_type = [i for i, x in enumerate(sample.leaves) if isinstance(x, torch.Tensor) and x.dtype == dtype]
    taken = of_type[number % 2 :: 2]
    if len(of_type) < 2 or not any(x.requires_grad for i, x in enumerate(sample.leaves) if i not in taken and isinstance(x, torch.Tensor)):
        return
    leaves = list(sample.leaves)
    for i in taken:
        leaves[i] = leaves[i].detach().to(beside).requires_grad_(leaves[i].requires_grad and beside.is_floating_point)
    names = [f"{list(x.shape)} {str(x.dtype)[6:]}" if isinstance(x, torch.Tensor) else repr(x) for x in leaves]
    yield Sample(sample.function, leaves, sample.spec, ", ".join(names))


def _parts(x):
    return torch.view_as_real(x.detach().to_dense().resolve_conj()).clone().requires_grad_(x.requires_grad)


def taken(samples, limit):
    """At most `limit` samples, evenly taken; none with complex, sparse or large tensors, or of random numbers."""
    ordinary = lambda x: not x.is_complex() and x.layout == torch.strided and x.numel() <= MOST_ELEMENTS  # noqa: E731
    samples = [sample for sample in samples if all(map(ordinary, sample.tensors()))]
    return [sample for sample in samples[:: max(1, -(-len(samples) // limit))] if sample.is_repeatable()]
