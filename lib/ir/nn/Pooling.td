// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Channels first: x [N, C, spatial...]. Window attributes have one entry for each spatial dimension.
// Pooling over all positions is a prim.reduce.
#ifndef ACCC_IR_NN_POOLING
#define ACCC_IR_NN_POOLING

include "ir/nn/NnDialect.td"

class Nn_Pooling<dag extra> {
  dag operands = !con((ins Prim_FloatTensor:$x, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pad_low,
                       DenseI64ArrayAttr:$pad_high, BoolAttr:$ceil_mode), extra);
}

def Nn_MaxPoolOp : Nn_OpWithGradient<"max_pool", Nn_Infers> {
  let summary = "the greatest element of each window; the gradient goes to the first greatest";
  let description = [{
    Padding does not take part. dim(result) = round((dim(x) + low + high - ((window - 1) * dilation + 1)) /
    stride) + 1, where round is floor, or with ceil_mode ceil, less the windows that would start in the high
    padding or after it.
    pool_c1: 1 to 3 spatial dimensions, with one entry each; window, strides, dilations >= 1, pads >= 0.
    pool_c2: there is at least one window (without ceil_mode it fits the padded input), and pads are less
    than the dilated window.}];
  let arguments = Nn_Pooling<(ins)>.operands;
  let results = (outs Prim_FloatTensor:$result);
}

def Nn_AveragePoolOp : Nn_Op<"average_pool", Nn_Infers> {
  let summary = "the mean of each window";
  let description = [{
    The sum of the window's elements divided by how many of its positions lie in x, or with
    count_include_pad in the padded x (what ceil_mode adds beyond never counts). Shape and constraints as
    max_pool.}];
  let arguments = Nn_Pooling<(ins BoolAttr:$count_include_pad)>.operands;
  let results = (outs Prim_FloatTensor:$result);
}

#endif
