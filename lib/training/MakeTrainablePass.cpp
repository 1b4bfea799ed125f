// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stage as a pass, for tests on IR text.
#include "training/MakeTrainable.h"
#include "training/Passes.h"

namespace accc {
#define GEN_PASS_DEF_MAKETRAINABLEPASS
#include "training/Passes.h.inc"
} // namespace accc

namespace {
struct MakeTrainablePass : accc::impl::MakeTrainablePassBase<MakeTrainablePass> {
  using MakeTrainablePassBase::MakeTrainablePassBase;

  void runOnOperation() override {
    accc::TrainingOptions options{loss, optimizer, {freeze.begin(), freeze.end()}};
    options.lossScale = lossScale;
    options.average = averageWeights;
    options.accumulates = accumulateGradients;
    options.dataParallel = dataParallel;
    options.syncsBatchNorm = syncBatchNorm;
    if (failed(accc::makeTrainable(getOperation(), options)))
      signalPassFailure();
  }
};
} // namespace
