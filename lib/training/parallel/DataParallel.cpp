// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/parallel/DataParallel.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/prim/Prim.h"
#include "support/ExchangeOrder.h"

using namespace mlir;
using namespace accc;

template <typename Collective> static Value exchange(StepFunction step, Value value) {
  return step.builder()
      .create<Collective>(value.getLoc(), ValueRange(value), ArrayRef<NamedAttribute>())
      ->getResult(0);
}

template <typename Collective> static void exchangeResults(StepFunction step, Role role) {
  for (unsigned i = 0, e = step.numResults(); i < e; ++i)
    if (step.resultRole(i) == role)
      step.setResult(i, exchange<Collective>(step, step.result(i)));
}

void accc::averageGradients(StepFunction step, MutableArrayRef<TrainedParameter> trained) {
  for (TrainedParameter &each : trained)
    each.gradient = exchange<prim::AllReduceOp>(step, each.gradient);
}

void accc::averageLoss(StepFunction step) { exchangeResults<prim::AllReduceOp>(step, Role::Loss); }

bool accc::dependsOnBatch(StepFunction step) {
  return llvm::any_of(step.body(), [](Operation &op) { return isa<BatchDependent>(op); });
}

void accc::synchronizeBatches(StepFunction step) {
  for (Operation &op : step.body())
    if (auto norm = dyn_cast<BatchDependent>(op))
      norm.synchronize();
}

// As in DistributedDataParallel, which lets the first process's buffers begin each step.
void accc::shareUpdates(StepFunction step) {
  exchangeResults<prim::BroadcastFromOp>(step, Role::Update);
}

void accc::numberExchanges(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    int64_t count = 0;
    Builder b(function.getContext());
    function.walk([&](Operation *op) {
      if (op->hasTrait<Collective>())
        op->setAttr(kExchangeAttr, b.getI64IntegerAttr(count++));
    });
  }
}
