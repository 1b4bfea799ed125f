# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sparse matrices that a module multiplies with, as a graph's neighbours: no tracer follows PyTorch's, and no file has them."""

import contextlib
from collections.abc import Callable, Iterator
from unittest import mock

import torch

from .errors import ExportError

_LAYOUTS = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc)


class SparseMatrix:
    """What stands in the place of a sparse matrix: the values at some places, [2, count] indices, of a matrix that is zero elsewhere. Values
    of a place that is there twice are added."""

    layout, is_sparse = torch.sparse_coo, True

    def __init__(self, places: torch.Tensor, values: torch.Tensor, shape: torch.Size) -> None:
        self.places, self.held, self.shape = places, values, torch.Size(shape)
        self.merged: SparseMatrix | None = None
        """The same with each place once, in order, where it is known."""

    @staticmethod
    def of(x: torch.Tensor) -> "SparseMatrix":
        x = x.detach().to_sparse_coo()
        merged = SparseMatrix._with_memory(x.coalesce())
        merged.merged = merged
        if x.is_coalesced():
            return merged
        plain = SparseMatrix._with_memory(x)
        plain.merged = merged
        return plain

    @staticmethod
    def _with_memory(x: torch.Tensor) -> "SparseMatrix":
        """With tensors of their own: no tracer takes parts of a sparse one."""
        return SparseMatrix(x._indices().clone(), x._values().clone(), x.shape)

    @classmethod
    def __torch_function__(cls, func: Callable, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in _PRODUCTS and not kwargs:
            return _product(*args)
        if func in _SUMS:
            return _added(*args, **kwargs)
        if func in _FLIPS:
            return args[0].t()
        raise _unknown(getattr(func, "__name__", func))

    def __getattr__(self, name: str):
        if name.startswith("__") or not hasattr(torch.Tensor, name):
            raise AttributeError(f"a sparse matrix has no {name}")
        raise _unknown(name)

    def __matmul__(self, other: torch.Tensor) -> torch.Tensor:
        return _product(self, other)

    def __rmatmul__(self, other: torch.Tensor) -> torch.Tensor:
        return _product(other, self)

    matmul = mm = mv = __matmul__

    def _with(self, change: Callable[[torch.Tensor], torch.Tensor]) -> "SparseMatrix":
        """With other values, linear in those that it has."""
        changed = SparseMatrix(self.places, change(self.held), self.shape)
        if self.merged is not None:
            changed.merged = changed if self.merged is self else self.merged._with(change)
        return changed

    def __mul__(self, factor: float | torch.Tensor) -> "SparseMatrix":
        _check_number(factor, "mul")
        return self._with(lambda x: x * factor)

    __rmul__ = mul = __mul__

    def __truediv__(self, divisor: float | torch.Tensor) -> "SparseMatrix":
        _check_number(divisor, "div")
        return self._with(lambda x: x / divisor)

    div = __truediv__

    def __neg__(self) -> "SparseMatrix":
        return self._with(torch.neg)

    def to(self, *args, **kwargs) -> "SparseMatrix":
        return self._with(lambda x: x.to(*args, **kwargs))

    def float(self) -> "SparseMatrix":
        return self.to(torch.float32)

    def detach(self) -> "SparseMatrix":
        return self._with(torch.Tensor.detach)

    def clone(self) -> "SparseMatrix":
        return self

    def t(self) -> "SparseMatrix":
        """Whose places are in another order than PyTorch's would be, so that there is no merged one."""
        return SparseMatrix(self.places.flip(0), self.held, self.shape[::-1])

    def transpose(self, first: int, second: int) -> "SparseMatrix":
        return self if first % 2 == second % 2 else self.t()

    @property
    def T(self) -> "SparseMatrix":  # noqa: N802, as PyTorch calls it
        return self.t()

    def coalesce(self) -> "SparseMatrix":
        return self.merged or self

    def is_coalesced(self) -> bool:
        return self.merged is self

    def indices(self) -> torch.Tensor:
        return self._sorted().places

    def values(self) -> torch.Tensor:
        return self._sorted().held

    def _sorted(self) -> "SparseMatrix":
        if self.merged is not self:
            raise ExportError("forward asks for the places of a sparse matrix that it made, and how many there are hangs on its data")
        return self

    def _indices(self) -> torch.Tensor:
        return self.places

    def _values(self) -> torch.Tensor:
        return self.held

    def _nnz(self) -> int:
        return self.held.shape[0]

    def size(self, dim: int | None = None) -> torch.Size | int:
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        return 2

    def to_dense(self) -> torch.Tensor:
        return self.held.new_zeros(self.shape).index_put((self.places[0], self.places[1]), self.held, accumulate=True)

    @property
    def dtype(self) -> torch.dtype:
        return self.held.dtype

    @property
    def device(self) -> torch.device:
        return self.held.device


def _unknown(name: str) -> ExportError:
    return ExportError(
        f"forward calls {name} of a sparse matrix, and no more than its products with dense tensors can be exported: keep its indices and values, "
        "and compute with these"
    )


def _check_number(x: object, name: str) -> None:
    """Raises ExportError for a matrix, of which each value has an element of its own."""
    if isinstance(x, SparseMatrix) or (isinstance(x, torch.Tensor) and x.dim() > 0):
        raise _unknown(name)


def _product(a, b) -> torch.Tensor:
    if isinstance(a, SparseMatrix) and isinstance(b, SparseMatrix):
        raise ExportError("forward multiplies sparse matrices with one another, whose product has as many values as their data says")
    if isinstance(b, SparseMatrix):
        return _product(b.t(), a.t()).t()
    rows, columns = a.places
    factors = a.held.reshape(-1, *[1] * (b.dim() - 1))
    return b.new_zeros((a.shape[0], *b.shape[1:])).index_add(0, rows, factors * b.index_select(0, columns))


def _added(x: torch.Tensor, a, b, *, beta: float = 1.0, alpha: float = 1.0) -> torch.Tensor:
    return beta * x + alpha * _product(a, b)


_PRODUCTS = {torch.sparse.mm, torch.spmm, torch.mm, torch.mv, torch.matmul}
_PRODUCTS |= {torch.Tensor.mm, torch.Tensor.mv, torch.Tensor.matmul, torch.Tensor.__matmul__, torch.Tensor.__rmatmul__}
_SUMS = {torch.sparse.addmm, torch.addmm, torch.Tensor.addmm}
_FLIPS = {torch.t}


@contextlib.contextmanager
def plain_matrices(module: torch.nn.Module) -> Iterator[None]:
    """Inside, sparse matrices among the buffers and attributes of the module, and those that forward makes, are their indices and values."""
    buffers = {part: dict(part._buffers) for part in module.modules()}
    attributes = [(part, name, x) for part in module.modules() for name, x in vars(part).items() if _is_sparse(x)]
    try:
        for part, held in buffers.items():
            for name in [name for name, x in held.items() if _is_sparse(x)]:
                vars(part)[name] = SparseMatrix.of(part._buffers.pop(name))
        for part, name, x in attributes:
            vars(part)[name] = SparseMatrix.of(x)
        with mock.patch.object(torch, "sparse_coo_tensor", _made), mock.patch.object(torch.sparse, "FloatTensor", _made):
            yield
    finally:
        for part, held in buffers.items():
            for name in [name for name, x in held.items() if _is_sparse(x)]:
                vars(part).pop(name, None)
            part._buffers.clear()
            part._buffers.update(held)
        for part, name, x in attributes:
            vars(part)[name] = x


def _is_sparse(x: object) -> bool:
    return isinstance(x, torch.Tensor) and x.layout in _LAYOUTS and x.dim() == 2


_MAKE = torch.sparse_coo_tensor


def _made(places, values, size=None, *, dtype: torch.dtype | None = None, **options) -> SparseMatrix | torch.Tensor:
    tensors = isinstance(places, torch.Tensor) and isinstance(values, torch.Tensor)
    if not tensors or size is None or len(size) != 2 or values.dim() != 1:
        return _MAKE(places, values, *([] if size is None else [size]), dtype=dtype, **options)
    return SparseMatrix(places, values if dtype is None else values.to(dtype), size)
