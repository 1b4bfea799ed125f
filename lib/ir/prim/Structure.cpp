// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Prim.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Structure.cpp.inc"

// ---- fusion ----

LogicalResult FusionOp::verify() {
  Block &block = getBody().front();
  // fusion_c1
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("the region's arguments have the types (")
           << block.getArgumentTypes() << "), the inputs (" << getInputs().getTypes() << ")";
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  // fusion_c2
  if (!yield)
    return emitOpError("the region does not end in prim.yield");
  // fusion_c3
  if (yield.getResults().getTypes() != getOutputs().getTypes())
    return emitOpError("the region yields the types (")
           << yield.getResults().getTypes() << "), the results have (" << getOutputs().getTypes()
           << ")";
  return success();
}
