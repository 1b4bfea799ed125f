// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_NN_STRAIGHT_THROUGH
#define ACCC_IR_NN_STRAIGHT_THROUGH

include "ir/nn/NnDialect.td"

def Nn_StraightThroughOp : Nn_OpWithGradient<"straight_through", [AllTypesMatch<["value", "x", "result"]>]> {
  let summary = "a value in place of x that has the gradient of x";
  let description = [{
    The result is `value`; its gradient goes to x, as if the result were x, and none to `value`: the
    straight-through estimator of rounding, and what PyTorch does where numbers are replaced while it records no
    gradient.
    Source: Bengio, Leonard and Courville, "Estimating or propagating gradients through stochastic neurons", 2013.}];
  let arguments = (ins Prim_FloatTensor:$value, Prim_FloatTensor:$x);
  let results = (outs Prim_FloatTensor:$result);
}

def Nn_ZeroDependenceOp : Nn_OpWithGradient<"zero_dependence", [AllTypesMatch<["value", "result"]>]> {
  let summary = "a value that depends on x with a gradient of zeros";
  let description = [{
    The result is `value`, with its gradient. x has a gradient, too, which is zero: what PyTorch records where a tensor
    is overwritten, or where an operator does not use the numbers of x. A parameter that reaches the loss only so is
    trained: weight decay and the optimizer's state change it.}];
  let arguments = (ins Prim_FloatTensor:$value, Prim_FloatTensor:$x);
  let results = (outs Prim_FloatTensor:$result);
}

#endif
