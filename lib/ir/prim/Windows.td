// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_WINDOWS
#define ACCC_IR_PRIM_WINDOWS

include "ir/prim/PrimDialect.td"

def Prim_ReduceWindowOp : Prim_Op<"reduce_window", "Window", Prim_Reduces, Prim_OfAllDimensions # Prim_HasGradient # Prim_Infers> {
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

def Prim_WindowScatterOp : Prim_Op<"window_scatter", "WindowScatter", Prim_Combines # Prim_Orders, Prim_OfAllDimensions # Prim_HasGradient # Prim_Infers> {
  let summary = "adds each window's source element to the first greatest element of that window";
  let description = [{
    The gradient of max-pooling: result has the operand's shape; for every window position o, source[o] is
    added at the position of the first (row-major) maximum of the window of the operand, NaN being the
    greatest. Nothing is added for a window that holds no element. Every addition rounds to the element type.
    window_scatter_c1: the attributes obey reduce_window_c1.
    window_scatter_c2: source has the shape of reduce_window(operand) and the operand's element type.}];
  let arguments = (ins Prim_FloatTensor:$operand, Prim_FloatTensor:$source, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high);
  let results = (outs Prim_FloatTensor:$result);
}

def Prim_ArgWindowOp : Prim_Op<"arg_window", "WindowScatter", Prim_Orders, Prim_NoGradient # Prim_Infers> {
  let summary = "where the first greatest element of each window is: its row-major index in the operand";
  let description = [{
    The result is i64. NaN is the greatest. A window that holds no element, because all of its positions are
    outside the operand, gives -1.
    arg_window_c1: the attributes obey reduce_window_c1.}];
  let arguments = (ins Prim_NumberTensor:$operand, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high);
  let results = (outs Prim_TensorOf<[I64]>:$result);
}

#endif
