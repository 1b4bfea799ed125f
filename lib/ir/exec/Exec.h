// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect `exec`: what runs, where and when.
#ifndef ACCC_IR_EXEC_EXEC_H
#define ACCC_IR_EXEC_EXEC_H

#include "ir/prim/Prim.h"

#include "mlir/IR/SymbolTable.h"

#include "ir/exec/ExecDialect.h.inc"
#include "ir/exec/ExecDialectEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/exec/ExecDialectAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/exec/ExecDialectTypes.h.inc"

#include "ir/exec/Families.h.inc"

#endif
