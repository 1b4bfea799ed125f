// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_NN_MODE
#define ACCC_IR_NN_MODE

include "ir/nn/NnDialect.td"

def Nn_ByModeOp : Nn_OpWithGradient<"by_mode", [AllTypesMatch<["training", "evaluation", "result"]>,
                                                DeclareOpInterfaceMethods<ModeDependent>]> {
  let summary = "one value in training and another in evaluation";
  let description = [{
    The result is `training`, with its gradient; where the model is evaluated it is `evaluation`: instances that
    are normalised by their own statistics in training, and by running ones afterwards.}];
  let arguments = (ins Prim_Tensor:$training, Prim_Tensor:$evaluation);
  let results = (outs Prim_Tensor:$result);
}

#endif
