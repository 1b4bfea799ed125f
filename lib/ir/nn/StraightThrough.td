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

#endif
