// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/optimizer/OptimizerValues.h"

#include "support/ModuleLocation.h"

using namespace mlir;
using namespace accc;

std::string accc::stateName(StringRef step, StringRef state) {
  return ("optimizer." + (step.empty() ? "" : step + ".") + state).str();
}

prim::Tensor accc::behindBarrier(OpBuilder &builder, Value value) {
  Location loc = withModule(NameLoc::get(builder.getStringAttr("optimizer")), "optimizer");
  return {builder, loc, builder.create<prim::OptimizationBarrierOp>(loc, value)};
}
