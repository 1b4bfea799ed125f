// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_VIEWS
#define ACCC_IR_PRIM_VIEWS

include "ir/prim/PrimDialect.td"

// All are linear: the gradient is the transpose of the index map.

def Prim_BroadcastOp : Prim_ViewOp<"broadcast", Prim_Chunks # Prim_HasGradient> {
  let summary = "repeats the operand along new dimensions and along dimensions of extent 1";
  let description = [{
    Operand dimension i becomes result dimension dimensions[i].
    broadcast_c1: size(dimensions) = rank(operand), strictly increasing, < rank(result).
    broadcast_c2: dim(operand, i) is 1 or dim(result, dimensions[i]).}];
  let arguments = (ins Prim_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs Prim_Tensor:$result);
  let hasVerifier = 1;
}

def Prim_ReshapeOp : Prim_ViewOp<"reshape", Prim_Chunks # Prim_HasGradient> {
  let summary = "the same elements in row-major order, in another shape";
  let description = [{reshape_c1: operand and result have the same number of elements and element type.}];
  let arguments = (ins Prim_Tensor:$operand);
  let results = (outs Prim_Tensor:$result);
  let hasVerifier = 1;
}

def Prim_TransposeOp : Prim_ViewOp<"transpose", Prim_Chunks # Prim_HasGradient # Prim_Infers> {
  let summary = "permutes dimensions: dim(result, i) = dim(operand, permutation[i])";
  let description = [{transpose_c1: permutation is a permutation of 0 ... rank - 1.}];
  let arguments = (ins Prim_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Prim_Tensor:$result);
}

def Prim_SliceOp : Prim_ViewOp<"slice", Prim_ChunksAsWritten # Prim_OfAllDimensions # Prim_HasGradient # Prim_Infers> {
  let summary = "elements start, start + stride, ... below limit in each dimension";
  let description = [{
    slice_c1: starts, limits, strides have rank(operand) entries.
    slice_c2: 0 <= start <= limit <= dim, stride >= 1.}];
  let arguments = (ins Prim_Tensor:$operand, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$limits,
                       DenseI64ArrayAttr:$strides);
  let results = (outs Prim_Tensor:$result);
  let extraClassDeclaration = fusionClassDeclaration # [{
    /// The row-major index of the first element in the operand, if the elements lie one behind the
    /// other there.
    std::optional<int64_t> getContiguousBegin();
  }];
}

def Prim_PadOp : Prim_ViewOp<"pad", Prim_Chunks # Prim_OfAllDimensions # Prim_HasGradient # Prim_Infers> {
  let summary = "puts `value` before, after and between the operand's elements";
  let description = [{
    dim(result) = low + high + dim(operand) + max(dim(operand) - 1, 0) * interior.
    Negative low or high removes elements.
    pad_c1: low, high, interior have rank(operand) entries, interior >= 0.
    pad_c2: value is a tensor of rank 0 of the operand's element type.
    pad_c3: no extent of the result is negative.}];
  let arguments = (ins Prim_Tensor:$operand, Prim_Tensor:$value, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior);
  let results = (outs Prim_Tensor:$result);
}

def Prim_ConcatenateOp : Prim_ViewOp<"concatenate", Prim_Chunks # Prim_OfSomeDimensions # Prim_HasGradient # Prim_Infers> {
  let summary = "the operands one after the other along a dimension";
  let description = [{
    concatenate_c1: at least one operand.
    concatenate_c2: operands agree in element type, rank and all extents but that of `dimension`.
    concatenate_c3: 0 <= dimension < rank.}];
  let arguments = (ins Variadic<Prim_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs Prim_Tensor:$result);
}

def Prim_ReverseOp : Prim_ViewOp<"reverse", Prim_Chunks # Prim_OfSomeDimensions # Prim_HasGradient # Prim_Infers> {
  let summary = "reverses the order along the given dimensions";
  let description = [{reverse_c1: dimensions are distinct and in range.}];
  let arguments = (ins Prim_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs Prim_Tensor:$result);
}

#endif
