// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_NN_SOFTMAX
#define ACCC_IR_NN_SOFTMAX

include "ir/nn/NnDialect.td"

class Nn_SoftmaxLike<string mnemonic> : Nn_OpWithGradient<mnemonic, [SameOperandsAndResultType]> {
  let arguments = (ins Prim_FloatTensor:$x, I64Attr:$dimension);
  let results = (outs Prim_FloatTensor:$result);
  let hasVerifier = 1;
}

def Nn_SoftmaxOp : Nn_SoftmaxLike<"softmax"> {
  let summary = "e^x_i / sum_j e^x_j along a dimension";
  let description = [{
    Where all elements along the dimension are -inf (everything is masked) the result is 0 and so is the
    gradient, instead of NaN. Computes in f32 for f16 and bf16.
    softmax_c1: 0 <= dimension < rank(x).}];
}

def Nn_LogSoftmaxOp : Nn_SoftmaxLike<"log_softmax"> {
  let summary = "x_i - log sum_j e^x_j along a dimension";
  let description = [{
    Where all elements along the dimension are -inf the result is -inf. Computes in f32 for f16 and bf16.
    log_softmax_c1: 0 <= dimension < rank(x).}];
}

#endif
