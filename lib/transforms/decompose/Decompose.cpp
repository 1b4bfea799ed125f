// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Nn.h"
#include "support/Fault.h"
#include "support/WorkScope.h"
#include "transforms/Passes.h"

namespace accc {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "transforms/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;

namespace {

/// Composite ops inside composite ops inside ...: deeper than any decomposition goes.
constexpr int kGreatestDepth = 16;

LogicalResult decompose(Decomposable op) {
  WorkScope scope(op);
  OpBuilder builder(op);
  SmallVector<Value> results;
  if (failed(op.decompose(builder, results)))
    return failure();
  for (auto [old, value] : llvm::zip_equal(op->getResults(), results))
    if (!value || value.getType() != old.getType())
      return emitBug(op.getLoc()) << "'" << op->getName()
                                  << "' decomposes to a value of another type than its result's, "
                                  << old.getType();
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

SmallVector<Decomposable> findComposites(func::FuncOp function) {
  SmallVector<Decomposable> found;
  function.walk([&](Decomposable op) {
    if (isa<nn::NnDialect>(op->getDialect())) // else a primitive that a target may run whole
      found.push_back(op);
  });
  return found;
}

struct DecomposePass : accc::impl::DecomposePassBase<DecomposePass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    for (int depth = 0; depth < kGreatestDepth; ++depth) {
      SmallVector<Decomposable> composites = findComposites(function);
      bool failedAny = false;
      for (Decomposable op : composites) // all of them, so that every error is reported
        failedAny |= failed(decompose(op));
      if (failedAny)
        return signalPassFailure();
      if (composites.empty())
        break;
    }
    function.walk([&](Operation *op) {
      if (!isa_and_nonnull<nn::NnDialect>(op->getDialect()))
        return;
      op->emitError("'") << op->getName() << "' cannot be decomposed into primitives";
      signalPassFailure();
    });
  }
};

} // namespace
