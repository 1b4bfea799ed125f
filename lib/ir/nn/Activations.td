// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_NN_ACTIVATIONS
#define ACCC_IR_NN_ACTIVATIONS

include "ir/nn/NnDialect.td"

class Nn_Activation<string mnemonic> : Nn_OpWithGradient<mnemonic, [SameOperandsAndResultType]> {
  let arguments = (ins Prim_FloatTensor:$x);
  let results = (outs Prim_FloatTensor:$result);
}

def Nn_ReluOp : Nn_Activation<"relu"> {
  let summary = "max(x, 0); the gradient at 0 is 0";
}

#endif
