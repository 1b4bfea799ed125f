// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes of lib/layout; Passes.td says what each does.
#ifndef ACCC_LAYOUT_PASSES_H
#define ACCC_LAYOUT_PASSES_H

#include "ir/prim/Prim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace accc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "layout/Passes.h.inc"

} // namespace accc

#endif
