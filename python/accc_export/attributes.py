# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attributes of a module's parts that are neither parameters nor buffers: what forward sets them to is in no file."""

import collections
import contextlib
from collections.abc import Iterator, Mapping

import torch

from .functions import same_numbers

Values = Mapping[torch.nn.Module, Mapping[str, "_Held"]]

_HOOKS = {name for name, x in vars(torch.nn.Module()).items() if isinstance(x, collections.OrderedDict)}
"""What holds the hooks of a module, which forward may register when it is called first."""

_OF_PYTORCH = (set(vars(torch.nn.Module())) - _HOOKS) | {"forward"}
"""What else PyTorch keeps in a module, parameters and buffers among it, and what exports put in the place of the method."""


def attributes_of(module: torch.nn.Module) -> Values:
    """Those of each part, with lists and dicts as they are now, and its hooks."""
    memory = _memory_of(module)
    return {part: {name: _Held(x, memory) for name, x in vars(part).items() if name not in _OF_PYTORCH} for part in module.modules()}


@contextlib.contextmanager
def preserved_attributes(module: torch.nn.Module) -> Iterator[None]:
    """Leaves the attributes as they were, and the tensors among them.

    An export of PyTorch's leaves copies of lists and dicts: parts that share one, in which one of them leaves what another
    reads, would each have their own in the next call.
    """
    held = attributes_of(module)
    try:
        yield
    finally:
        put_back(held)


def put_back(values: Values) -> None:
    for part, held in values.items():
        for name in [name for name in vars(part) if name not in _OF_PYTORCH and name not in held]:
            del vars(part)[name]
        for name, x in held.items():
            vars(part)[name] = x.restored()


def changed_attributes(module: torch.nn.Module, before: Values) -> list[str]:
    """The names of those that are others than before: other objects, numbers and texts of another value, or tensors that were
    written into."""
    names, after = [], attributes_of(module)
    for path, part in module.named_modules():
        names += [f"{path}.{name}" if path else name for name in _changed(before.get(part, {}), after[part])]
    return sorted(names)


def address_of(x: torch.Tensor) -> int:
    """Where its memory begins; 0 for one that has none of its own."""
    try:
        return x.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


def _memory_of(module: torch.nn.Module) -> set[int]:
    return {address_of(x) for x in module.parameters() if x.numel()} - {0}


class _Held:
    """The value of an attribute, of a list or dict what is in it, of tensors their numbers, of generators their states. The numbers of
    what is in the memory of a parameter, a part that forward took, are the parameter's."""

    def __init__(self, value: object, memory: set[int]) -> None:
        self.value = value
        self.content = value.copy() if type(value) in (list, dict, collections.OrderedDict) else None
        tensors = {key: x for key, x in self.elements().items() if type(x) is torch.Tensor and not x.is_inference()}
        tensors = {key: x for key, x in tensors.items() if address_of(x) not in memory}
        self.versions = {key: x._version for key, x in tensors.items()}
        self.memory = {key: x.detach() for key, x in tensors.items()}
        self.numbers = {key: x.detach().clone() for key, x in tensors.items()}
        self.states = {key: x.get_state() for key, x in self.elements().items() if isinstance(x, torch.Generator)}

    def restored(self) -> object:
        for key, numbers in self.numbers.items():
            x = self.elements()[key]
            if address_of(x) != address_of(self.memory[key]):  # by `x.data = y`, which leaves the version
                x.data = self.memory[key]
            if x._version != self.versions[key] or _differs(x, numbers):
                with torch.no_grad():
                    x.copy_(numbers)
        for key, state in self.states.items():
            self.elements()[key].set_state(state)
        if self.content is not None:
            self.value.clear()
            (self.value.extend if isinstance(self.value, list) else self.value.update)(self.content)
        return self.value

    def elements(self) -> dict:
        content = self.value if self.content is None else self.content
        return content if isinstance(content, dict) else dict(enumerate(content if self.content is not None else [content]))


def _changed(before: Mapping[str, _Held], after: Mapping[str, _Held]) -> Iterator[str]:
    for name in {**before, **after}:
        if name not in before or name not in after:
            yield name
            continue
        a, b = before[name].elements(), after[name].elements()
        same = a.keys() == b.keys() and all(_same(x, b[key]) for key, x in a.items())
        written = before[name].versions != after[name].versions
        if not same or written or any(_differs(x, after[name].numbers[key]) for key, x in before[name].numbers.items()):
            yield name


def _same(a: object, b: object) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, (bool, int, float, str)) and a == b)


def _differs(x: torch.Tensor, numbers: torch.Tensor) -> bool:
    """Of a tensor with memory of its own, whose version `x.data = y` leaves as it was."""
    return x.layout is torch.strided and bool(address_of(x)) and not same_numbers(x, numbers)
