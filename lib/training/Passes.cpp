// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stage as a pass, for tests on IR text.
#include "ir/nn/Nn.h"
#include "training/MakeTrainable.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace accc;

namespace {
struct MakeTrainablePass : PassWrapper<MakeTrainablePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MakeTrainablePass)

  MakeTrainablePass() = default;
  MakeTrainablePass(const MakeTrainablePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "make-trainable"; }
  StringRef getDescription() const override {
    return "replaces @forward by the steps of training: loss, gradients, optimizer, evaluation";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<prim::PrimDialect, nn::NnDialect>();
  }

  void runOnOperation() override {
    TrainingOptions options{loss, optimizer, {}};
    for (const std::string &expression : freeze)
      options.freeze.push_back(expression);
    if (failed(makeTrainable(getOperation(), options)))
      signalPassFailure();
  }

  Option<std::string> loss{*this, "loss", llvm::cl::desc("as --loss of the command line")};
  Option<std::string> optimizer{*this, "optimizer",
                                llvm::cl::desc("as --optimizer of the command line")};
  ListOption<std::string> freeze{*this, "freeze",
                                 llvm::cl::desc("parameters that are not trained")};
};
} // namespace

void accc::registerTrainingPasses() { PassRegistration<MakeTrainablePass>(); }
