# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which tensors are other ones in another step: computed of inputs, of parameters, of what forward writes, or at random."""

from collections.abc import Iterable

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._pytree import tree_leaves

from .bodies import WatchingMode
from .watching import written_by

_SHAPED = ("empty_like", "full_like", "new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros", "ones_like", "zeros_like")
"""Operators that read of a tensor its shape and type."""


class Dependence(WatchingMode):
    """Inside, knows what is computed of these tensors, or at random; and of what is written of the others, `kept`, which the module holds."""

    def __init__(self, given: Iterable[torch.Tensor], kept: Iterable[torch.Tensor]) -> None:
        super().__init__()
        self.shaped = {getattr(torch.ops.aten, name) for name in _SHAPED}
        self.memory: dict[int, StorageWeakRef] = {}  # which keep the addresses of storages from being those of others
        for x in given:
            self._add(x)
        self.kept = {ref.cdata: ref for ref in map(_storage, kept) if ref is not None}

    def __contains__(self, x: torch.Tensor) -> bool:
        ref = _storage(x)
        return ref is None or ref.cdata in self.memory

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        read = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        depends = isinstance(func, torch._ops.HigherOrderOperator) or (
            func.overloadpacket not in self.shaped and (any(x in self for x in read) or torch.Tag.nondeterministic_seeded in func.tags)
        )
        results = func(*args, **kwargs)
        written = [] if isinstance(func, torch._ops.HigherOrderOperator) else list(written_by(func, args, kwargs))
        held = [x for x in written if (ref := _storage(x)) is not None and ref.cdata in self.kept]
        for x in (*written, *tree_leaves(results)) if depends else held:
            if isinstance(x, torch.Tensor):
                self._add(x)
        return results

    def _add(self, x: torch.Tensor) -> None:
        if (ref := _storage(x)) is not None:
            self.memory[ref.cdata] = ref


def _storage(x: torch.Tensor) -> StorageWeakRef | None:
    try:
        return StorageWeakRef(x.untyped_storage())
    except (NotImplementedError, RuntimeError):  # it is made of other tensors
        return None
