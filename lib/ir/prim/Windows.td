// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_WINDOWS
#define ACCC_IR_PRIM_WINDOWS

include "ir/prim/PrimDialect.td"

class Prim_WindowOp<string mnemonic, list<Trait> traits = []>
    : Prim_Op<mnemonic, "Window", [DeclareOpInterfaceMethods<Windowed>],
              traits # Prim_OfAllDimensions # Prim_Infers>;

def Prim_ReduceWindowOp : Prim_WindowOp<"reduce_window", Prim_Reduces # Prim_HasGradient> {
  let summary = "combines the elements of a window that slides over the operand";
  let description = [{
    result[o] = combine over w in window of operand[o * stride + w * dilation - pad_low]; positions outside
    the operand do not count. dim(result) = floor((dim + low + high - ((window - 1) * dilation + 1)) / stride) + 1,
    or 0 where the window does not fit once. A window all of whose positions are outside gives what a
    reduction of no elements gives: 0, or the least or greatest value of the type. f16 and bf16 accumulate
    in f32. The gradient of max and min goes to the first of what is equal.
    reduce_window_c1: all attributes have rank(operand) entries, window, strides, dilations >= 1, pads >= 0.
    reduce_window_c2: kind is sum, max or min.}];
  let arguments = (ins Prim_NumberTensor:$operand, Prim_ReduceKindAttr:$kind, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high);
  let results = (outs Prim_NumberTensor:$result);
  let assemblyFormat = "$kind $operand attr-dict `:` functional-type(operands, results)";
}

def Prim_ArgWindowOp : Prim_WindowOp<"arg_window", Prim_NoGradient> {
  let summary = "which element of each window is the first greatest: its row-major number in the window";
  let description = [{
    NaN is the greatest. Positions outside the operand have numbers, too, but do not count; a window that
    holds no element gives -1. The result is i8 where a window has at most 127 positions, otherwise i32, or
    i64: little memory for what max-pooling keeps for its gradient.
    arg_window_c1: the attributes obey reduce_window_c1.}];
  let arguments = (ins Prim_NumberTensor:$operand, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high);
  let results = (outs Prim_IntegerTensor:$result);
}

def Prim_WindowScatterOp : Prim_WindowOp<"window_scatter", Prim_Combines # Prim_HasGradient> {
  let summary = "adds each window's source to one element of that window";
  let description = [{
    The gradient of max-pooling, of the numbers that arg_window gives. The result has the given extents; for
    every position o of the windows, source[o] is added to the element number numbers[o] of the window:
    result[i] = sum of source[o] over all o, w with o * stride + w * dilation - pad_low = i and w the
    element number numbers[o]. A number that no element of the window has adds nothing. f16 and bf16
    accumulate in f32.
    window_scatter_c1: the attributes obey reduce_window_c1; extents are at least 0.
    window_scatter_c2: numbers and source have the windows' positions as their shape.
    window_scatter_c3: numbers are of the type that arg_window gives for such windows.}];
  let arguments = (ins Prim_IntegerTensor:$numbers, Prim_FloatTensor:$source, DenseI64ArrayAttr:$extents,
                       DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high);
  let results = (outs Prim_FloatTensor:$result);
}

#endif
