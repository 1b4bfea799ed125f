// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/optimizer/OptimizerValues.h"

#include "support/ModuleLocation.h"

using namespace mlir;
using namespace accc;

std::string accc::stateName(StringRef step, StringRef state) {
  return ("optimizer." + (step.empty() ? "" : step + ".") + state).str();
}

prim::Tensor accc::inOptimizer(OpBuilder &builder, Value value) {
  return {builder, withModule(NameLoc::get(builder.getStringAttr("optimizer")), "optimizer"),
          value};
}

prim::Tensor accc::behindBarrier(OpBuilder &builder, Value value) {
  prim::Tensor x = inOptimizer(builder, value);
  return x.wrap(builder.create<prim::OptimizationBarrierOp>(x.getLoc(), value));
}
