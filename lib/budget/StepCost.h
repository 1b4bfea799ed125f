// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What steps cost, in bytes (Target.h).
#ifndef ACCC_BUDGET_STEPCOST_H
#define ACCC_BUDGET_STEPCOST_H

#include "schedule/order/Order.h"
#include "target/Target.h"

namespace accc {

/// Of elementary functions among the ops of a kernel.
double costOfFunctions(llvm::ArrayRef<mlir::Operation *> ops, const Target &target);

/// Of one step: its launch, and what it reads and writes or computes.
double costOfStep(mlir::Operation *step, const Target &target);

/// Of all steps.
double costOfSteps(const Order &order, const Target &target);

} // namespace accc

#endif
