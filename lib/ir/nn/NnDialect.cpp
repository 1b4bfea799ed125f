// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Nn.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace accc::nn;

#include "ir/nn/NnDialect.cpp.inc"
#include "ir/nn/NnDialectEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/nn/NnDialectAttrs.cpp.inc"

void NnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/nn/NnDialectAttrs.cpp.inc"
      >();
#include "ir/nn/Registrations.cpp.inc"
}
