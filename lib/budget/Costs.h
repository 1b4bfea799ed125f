// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What steps cost, in bytes (Target.h).
#ifndef ACCC_BUDGET_COSTS_H
#define ACCC_BUDGET_COSTS_H

#include "schedule/order/Order.h"
#include "target/Target.h"

namespace accc {

class Costs {
public:
  /// `tf32`: contractions of f32 may round their factors to TF32.
  Costs(const Target &target, bool tf32) : target(target), tf32(tf32) {}

  const Target &getTarget() const { return target; }

  double ofLaunch() const { return static_cast<double>(target.getLaunchBytes()); }
  /// Of what a contraction computes, beside what it moves.
  double ofArithmetic(mlir::Operation *contraction) const;
  /// Of elementary functions among the ops of a kernel.
  double ofFunctions(llvm::ArrayRef<mlir::Operation *> ops) const;
  /// Of one step: its launch, and what it reads and writes or computes.
  double ofStep(mlir::Operation *step) const;
  double ofSteps(const Order &order) const;

private:
  const Target &target;
  bool tf32;
};

} // namespace accc

#endif
