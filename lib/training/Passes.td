// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes that make a model trainable.
#ifndef ACCC_TRAINING_PASSES
#define ACCC_TRAINING_PASSES

include "mlir/Pass/PassBase.td"

def MakeTrainablePass : Pass<"make-trainable", "::mlir::ModuleOp"> {
  let summary = "Replaces the forward function by the entry points of training";
  let description = [{
    Derives `@train_step` (loss, backward pass, optimizer), `@grad_step`, `@apply_step` and
    `@eval_step` from `@forward`; docs/function-contract.md lists their arguments and results.

        func.func @forward(%x {role input}, %w {role parameter}) -> (%y {role output})

    becomes

        func.func @train_step(%w, %x, %target, %learning_rate) -> (%y, %loss, %w_new {accc.updates = "w"})
        func.func @grad_step(%w, %x, %target) -> (%y, %loss, %dw {role gradient})
        func.func @apply_step(%w, %dw, %learning_rate) -> (%w_new {accc.updates = "w"})
        func.func @eval_step(%w, %x, %target) -> (%y, %loss)
  }];
  let options = [
    Option<"loss", "loss", "std::string", "\"\"", "as --loss of the command line">,
    Option<"optimizer", "optimizer", "std::string", "\"\"", "as --optimizer of the command line">,
    Option<"lossScale", "loss-scale", "std::string", "\"\"", "as --loss-scale of the command line">,
    Option<"averageWeights", "average-weights", "std::string", "\"\"",
           "as --average-weights of the command line">,
    Option<"accumulateGradients", "accumulate-gradients", "bool", "false",
           "as --accumulate-gradients of the command line">,
    Option<"dataParallel", "data-parallel", "bool", "false", "as --data-parallel of the command line">,
    Option<"syncBatchNorm", "sync-batch-norm", "bool", "false", "as --sync-batch-norm of the command line">,
    ListOption<"freeze", "freeze", "std::string", "as --freeze of the command line">
  ];
  let dependentDialects = ["::accc::prim::PrimDialect", "::accc::nn::NnDialect"];
}

#endif
