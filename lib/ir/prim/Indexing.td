// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_INDEXING
#define ACCC_IR_PRIM_INDEXING

include "ir/prim/PrimDialect.td"

// One axis is enough: indexing by tuples is a linear index into a reshaped tensor, and indexing along a
// dimension with the other coordinates kept is a linear index built with iota.

def Prim_GatherOp : Prim_ViewOp<"gather", [Prim_ReportsErrors] # Prim_Chunks # Prim_OfSomeDimensions # Prim_HasGradient # Prim_Infers> {
  let summary = "takes slices along one axis";
  let description = [{
    result = data[..., indices, ...] with the indices in place of dimension `axis`:
    shape(result) = shape(data)[:axis] + shape(indices) + shape(data)[axis+1:].
    An index outside [0, dim(data, axis)) is a data error at run time: the step fails and memory outside
    the tensor is never read.
    gather_c1: 0 <= axis < rank(data).}];
  let arguments = (ins Prim_Tensor:$data, Prim_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Prim_Tensor:$result);
}

def Prim_ScatterOp : Prim_Op<"scatter", "Scatter", Prim_Combines,
                             [Prim_ReportsErrors] # Prim_OfSomeDimensions # Prim_HasGradient # Prim_Infers> {
  let summary = "combines updates into the data along one axis, in the order of the indices";
  let description = [{
    The transpose of gather: for each index position i, data[..., indices[i], ...] =
    combine(data[..., indices[i], ...], updates[..., i, ...]), in row-major order of the index positions,
    which makes duplicates deterministic (`set`: the last one wins). Every update rounds to the element
    type. A GPU may add up runs of updates by themselves first (`add`), the same runs every time. An index out of range is a data error, as for gather. The gradient of set is that of distinct indices; the gradient of a tie of
    max or min is split evenly.
    `indices_are_sorted` promises that no index is less than the one before it: where a kernel would look
    through all indices for those of a row, it finds the first by a binary search (sort-scatters).
    `unique_indices` promises that no two are equal: where there are as many as rows, a kernel walks the updates, of
    which each row gets one.
    scatter_c1: 0 <= axis < rank(data).
    scatter_c2: shape(updates) is the shape of gather(data, indices).}];
  let arguments = (ins Prim_Tensor:$data, Prim_IndexTensor:$indices, Prim_Tensor:$updates, I64Attr:$axis,
                       Prim_ScatterKindAttr:$kind, UnitAttr:$indices_are_sorted, UnitAttr:$unique_indices);
  let results = (outs Prim_Tensor:$result);
  let extraClassDeclaration = fusionClassDeclaration # [{
    /// Whether each row of the data gets exactly one update.
    bool isPermutation();
  }];
}

#endif
