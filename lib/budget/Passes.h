// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_BUDGET_PASSES_H
#define ACCC_BUDGET_PASSES_H

#include "ir/exec/Exec.h"
#include "ir/prim/Prim.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace accc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "budget/Passes.h.inc"
} // namespace accc

#endif
