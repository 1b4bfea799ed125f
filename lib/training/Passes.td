// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes that make a model trainable.
#ifndef ACCC_TRAINING_PASSES
#define ACCC_TRAINING_PASSES

include "mlir/Pass/PassBase.td"

def MakeTrainablePass : Pass<"make-trainable", "::mlir::ModuleOp"> {
  let summary = "Replaces the forward function by the steps of training";
  let description = [{
    From `@forward` makes `@train_step` (loss, backward, optimizer), `@grad_step`, `@apply_step` and
    `@eval_step`; docs/function-contract.md says what each takes and gives.}];
  let options = [
    Option<"loss", "loss", "std::string", "\"\"", "as --loss of the command line">,
    Option<"optimizer", "optimizer", "std::string", "\"\"", "as --optimizer of the command line">,
    ListOption<"freeze", "freeze", "std::string", "as --freeze of the command line">
  ];
  let dependentDialects = ["::accc::prim::PrimDialect", "::accc::nn::NnDialect"];
}

#endif
