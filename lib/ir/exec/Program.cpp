// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/exec/Exec.h"

#include "ir/prim/FunctionContract.h"

using namespace mlir;
using namespace accc::exec;

LogicalResult VariableOp::verify() {
  int64_t rank = cast<RankedTensorType>(getType()).getRank();
  if (getOrder() && !accc::isOrder(*getOrder(), rank))
    return emitOpError("'") << getName() << "' has an order that does not name each of its " << rank
                            << " dimensions once";
  return success();
}

#define GET_OP_CLASSES
#include "ir/exec/Program.cpp.inc"
