// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/exec/Exec.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace accc::exec;

#include "ir/exec/ExecDialect.cpp.inc"
#include "ir/exec/ExecDialectEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/exec/ExecDialectAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/exec/ExecDialectTypes.cpp.inc"

void ExecDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/exec/ExecDialectAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/exec/ExecDialectTypes.cpp.inc"
      >();
#include "ir/exec/Registrations.cpp.inc"
}
