// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_REDUCTIONS
#define ACCC_IR_PRIM_REDUCTIONS

include "ir/prim/PrimDialect.td"

def Prim_ReduceOp : Prim_Op<"reduce", "Reduction", Prim_Reduces, Prim_Chunks # Prim_OfSomeDimensions # Prim_HasGradient # Prim_Infers> {
  let summary = "combines all elements along the given dimensions, which disappear";
  let description = [{
    sum, prod, max, min of numbers; all, any of booleans. Of no elements: 0, 1, the least, the greatest
    value of the type, true, false. max and min give NaN if any element is NaN; their gradient is split
    evenly among ties. Sums of f16 and bf16 accumulate in f32.
    reduce_c1: dimensions are strictly increasing and in range.
    reduce_c2: all and any take i1, the others do not.}];
  let arguments = (ins Prim_Tensor:$operand, Prim_ReduceKindAttr:$kind, DenseI64ArrayAttr:$dimensions);
  let results = (outs Prim_Tensor:$result);
  let assemblyFormat = "$kind $operand attr-dict `:` functional-type(operands, results)";
}

def Prim_ArgReduceOp : Prim_Op<"arg_reduce", "Scan", Prim_Orders, Prim_Chunks # Prim_NoGradient # Prim_Infers> {
  let summary = "the first index of the greatest (max) or least (min) element along a dimension";
  let description = [{
    NaN counts as the extreme value. The result is i64, the dimension disappears.
    arg_reduce_c1: kind is max or min. arg_reduce_c2: the dimension is in range, its extent positive.}];
  let arguments = (ins Prim_NumberTensor:$operand, Prim_ReduceKindAttr:$kind, I64Attr:$dimension);
  let results = (outs Prim_TensorOf<[I64]>:$result);
  let assemblyFormat = "$kind $operand attr-dict `:` functional-type(operands, results)";
}

def Prim_CumulativeOp : Prim_Op<"cumulative", "Scan", Prim_Combines, Prim_Chunks # Prim_HasGradient> {
  let summary = "running sum, product, maximum or minimum along a dimension";
  let description = [{
    Inclusive, from the first element on; reverse and exclusive forms are made with reverse, pad, slice.
    max and min are NaN from the first NaN on. f16 and bf16 accumulate in f32.
    The gradient of max and min goes to the last of what is equal, as in PyTorch.
    cumulative_c1: the dimension is in range. cumulative_c2: kind is sum, prod, max or min.}];
  let arguments = (ins Prim_NumberTensor:$operand, Prim_ReduceKindAttr:$kind, I64Attr:$dimension);
  let results = (outs Prim_NumberTensor:$result);
  let assemblyFormat = "$kind $operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Prim_SortOp : Prim_Op<"sort", "Sort", Prim_Orders, Prim_HasGradient # Prim_Infers> {
  let summary = "sorts along a dimension, stably; gives the values and where they came from";
  let description = [{
    Ascending, or descending if so asked; NaN is the greatest. `indices` is i64. With a `range` [first, end)
    the results have only what comes to these places: the greatest few, or the median.
    sort_c1: the dimension is in range. sort_c2: the range has two places, in order, of the dimension.}];
  let arguments = (ins Prim_NumberTensor:$operand, I64Attr:$dimension, BoolAttr:$descending,
                       OptionalAttr<DenseI64ArrayAttr>:$range);
  let results = (outs Prim_NumberTensor:$values, Prim_TensorOf<[I64]>:$indices);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "int64_t":$dimension, "bool":$descending),
                            [{ build($_builder, $_state, operand, dimension, descending, {}); }]>];
  let extraClassDeclaration = fusionClassDeclaration # [{
    /// The elements of a line; of the sorted line the results have the `count` places [first, end).
    int64_t getExtent();
    int64_t getFirst();
    int64_t getEnd();
    int64_t getCount() { return getEnd() - getFirst(); }
  }];
}

def Prim_MergeOp : Prim_Op<"merge", "Sort", Prim_Orders, Prim_HasGradient # Prim_Infers> {
  let summary = "merges neighbouring sorted runs along a dimension, stably; gives the values and where they came from";
  let description = [{
    The operand's lines along the dimension are runs of `run` elements, the last of which may be shorter,
    each in the order of prim.sort. Of every two neighbouring runs, from the first on, the result has one.
    Of equal elements those of the earlier run come first. `indices` (i64) are places along the dimension.
    What a line that is too long for one kernel's memory is sorted by (split-sorts).
    merge_c1: the dimension is in range. merge_c2: run is positive.}];
  let arguments = (ins Prim_NumberTensor:$operand, I64Attr:$dimension, BoolAttr:$descending, I64Attr:$run);
  let results = (outs Prim_NumberTensor:$values, Prim_TensorOf<[I64]>:$indices);
}

#endif
