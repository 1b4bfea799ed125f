# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that forward makes of values: it asks whether something holds, and raises an exception. A trace has no values to ask."""

import collections
import contextlib
import dis
import logging
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, FunctionType
from typing import TypeVar
from unittest import mock

import torch
import torch.export._trace
from torch.overrides import TorchFunctionMode

from .calls import Call
from .constants import all_known
from .dependence import Dependence
from .errors import ExportError, warn
from .failures import asks_for_values
from .modules import preserved_buffers, preserved_values

_Traced = TypeVar("_Traced")

_TRUTHS = {getattr(torch.Tensor, name) for name in ("__bool__", "__contains__", "allclose", "equal", "is_nonzero")}
_TRUTHS |= {torch.allclose, torch.equal, torch.is_nonzero}
"""What gives a truth value. Of a tensor of them, torch.Tensor.item does, too."""
_NUMBERS = {getattr(torch.Tensor, name) for name in ("__complex__", "__float__", "__index__", "__int__", "item", "numpy", "tolist")}


_Place = tuple[CodeType, int, int]
"""An instruction, and how many times it asked before. A number of order would not do: transformers asks of masks where nothing is traced."""


class _Truths(TorchFunctionMode):
    """The truth values that a call of forward asks for, in order, with the `answers` in place of what some of them would be; of tensors
    that are the same in each step, it sees nothing where a `dependence` tells which these are."""

    def __init__(self, answers: dict[_Place, bool], dependence: Dependence | None = None) -> None:
        super().__init__()
        self.answers, self.dependence = answers, dependence
        self.asked: collections.Counter[tuple[CodeType, int]] = collections.Counter()
        self.given: dict[_Place, bool | None] = {}
        """None where there is no answer: the call ended there."""
        self.numbers: list[str] = []
        """The lines that ask for numbers."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in _TRUTHS or (func is torch.Tensor.item and args[0].dtype is torch.bool):
            return self._answer(sys._getframe(1), func, *args, **kwargs)
        if func in _NUMBERS and self._depends(args):
            asking = sys._getframe(1)
            self.numbers.append(f"{asking.f_code.co_filename}:{asking.f_lineno}")
        with self._inside() if isinstance(func, FunctionType) else contextlib.nullcontext():
            return func(*args, **kwargs)

    @contextlib.contextmanager
    def _inside(self) -> Iterator[None]:
        """For a function of PyTorch's that is written in Python, whose own calls do not come here: gaussian_nll_loss checks the variances."""
        ask, is_asking = torch.Tensor.__bool__, False

        def answer(x: torch.Tensor) -> bool:
            nonlocal is_asking
            if is_asking:  # another mode passes it on
                return ask(x)
            is_asking = True
            try:
                return self._answer(sys._getframe(1), ask, x)
            finally:
                is_asking = False

        with mock.patch.object(torch.Tensor, "__bool__", answer):
            yield

    def _answer(self, asking: FrameType, func, *args, **kwargs):
        while asking.f_code.co_name in ("__bool__", "__contains__", "handle_torch_function"):  # PyTorch's own, as of a tensor of a tracer's
            asking = asking.f_back
        instruction = asking.f_code, asking.f_lasti
        place = *instruction, self.asked[instruction]
        self.asked[instruction] += 1
        if not self._depends(args):
            return func(*args, **kwargs)
        answer = self.given[place] = self.answers.get(place)
        if answer is None:
            answer = self.given[place] = func(*args, **kwargs)
        return answer

    def _depends(self, args: tuple) -> bool:
        return self.dependence is None or any(x in self.dependence for x in args if isinstance(x, torch.Tensor))


@contextlib.contextmanager
def _answered(
    module: torch.nn.Module, answers: dict[_Place, bool], dependence: Dependence | None = None
) -> Iterator[Callable[[], _Truths]]:
    """Inside, every call of the module's forward is given the answers; gives a function to what the last one asked for."""
    original, own = module.forward, vars(module).get("forward")
    truths = _Truths({})

    def forward(*args, **kwargs):
        nonlocal truths
        with _Truths(answers, dependence) as truths:
            return original(*args, **kwargs)

    vars(module)["forward"] = forward
    try:
        yield lambda: truths
    finally:
        del vars(module)["forward"]
        if own is not None:
            vars(module)["forward"] = own


@contextlib.contextmanager
def _without_graphs() -> Iterator[None]:
    """Inside, PyTorch prints no graph when it is asked for a value: the exception says what matters."""
    log = logging.getLogger("torch.fx.experimental.symbolic_shapes")
    with mock.patch.object(log, "disabled", True), mock.patch.object(torch.export._trace, "print", lambda *args, **options: None, create=True):
        yield


def traced_past_checks(trace: Callable[[], _Traced], module: torch.nn.Module, call: Call) -> _Traced:
    """What `trace` gives of a module that may ask for values: of tensors that forward makes of numbers, which are known, and of any other
    whether something holds of it, if forward raises an exception where it does not. What else it does with an answer is refused, by
    the exception of `trace`.

    To be called within `preserved`. Warns of the checks, which no file has.
    """
    checks: dict[_Place, bool] = {}
    said: list[str] = []
    known = contextlib.nullcontext
    while True:
        try:
            with known(), _without_graphs(), _answered(module, checks) as truths:
                traced = trace()
            break
        except Exception as error:  # whatever the tracers and the module's own code raise
            if not asks_for_values(error):
                raise
            if known is not all_known:
                known = all_known
                continue
            unknown = (place for place, answer in truths().given.items() if type(answer) is not bool)  # a symbol, or none
            found = next(filter(None, (_check_at(module, call, place) for place in unknown)), None)
            if found is None:
                raise
            place, answer, text = found
            checks[place] = answer
            said.append(text)
    _warn_of(said)
    return traced


def check_asked(module: torch.nn.Module, call: Call, depending: Callable[[], Dependence]) -> None:
    """Raises ExportError where forward asks for the values of a tensor that `depending` says to be another one in another step, and does
    something else by them than to raise an exception: torch.jit.trace builds in what the example decides. To be called within `preserved`.

    Warns of the checks.
    """
    asked, error = _run(module, call, {}, depending())
    if error is not None:
        raise error
    said = []
    lines = [f"{place[0].co_filename}:{_line(place)}" for place in asked.given]
    for place, line in zip(asked.given, lines):
        found = _check_at(module, call, place, depending)
        if found is None:
            asked.numbers.append(line)
        else:
            said.append(found[2])
    if asked.numbers:
        where = ", ".join(dict.fromkeys(asked.numbers))
        raise ExportError(
            f"what forward does depends on the values of a tensor ({where}), of which PyTorch's torchscript exporter writes what the example decides: "
            "choose by torch.where(), and keep numbers in tensors"
        )
    _warn_of(said)


def _line(place: _Place) -> int:
    """Of an instruction."""
    return next(line for first, last, line in reversed(list(place[0].co_lines())) if line is not None and first <= place[1])


def _warn_of(said: list[str]) -> None:
    if said:
        where = ", ".join(dict.fromkeys(said))
        warn(f"forward checks values ({where}), and no file has the checks: a step takes what forward would refuse")


def _check_at(
    module: torch.nn.Module, call: Call, place: _Place, depending: Callable[[], Dependence] | None = None
) -> tuple[_Place, bool, str] | None:
    """The place, the answer that forward is given there with the example, and where it raises an exception if it is given the other one;
    None if it raises none."""
    asked, _ = _run(module, call, {}, depending and depending())
    answer = asked.given.get(place)
    if answer is None:
        return None
    asked, error = _run(module, call, {place: not answer}, depending and depending())
    # What is asked behind it, or is a number, might be something else with other data, and nothing be raised.
    if error is None or next(reversed(asked.given)) != place or asked.numbers:
        return None
    where = _raised_at(error)
    return (place, answer, f"{where} raises {type(error).__name__}") if where else None


def _raised_at(error: Exception) -> str | None:
    """The line of the `raise` or `assert` that raised it; None for one that an operator raises, as of an example that takes a branch which is
    not for it."""
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    code = last.tb_frame.f_code
    return f"{code.co_filename}:{last.tb_lineno}" if dis.opname[code.co_code[last.tb_lasti]] == "RAISE_VARARGS" else None


def _run(
    module: torch.nn.Module, call: Call, answers: dict[_Place, bool], dependence: Dependence | None = None
) -> tuple[_Truths, Exception | None]:
    """What a call with the example asks for, and the exception that it raises."""
    with preserved_buffers(module), preserved_values(module.parameters()), torch.random.fork_rng(devices=[]):
        with _answered(module, answers, dependence) as truths, dependence or contextlib.nullcontext():
            try:
                call.run(module)
            except Exception as error:  # whichever forward raises
                return truths(), error
            return truths(), None
