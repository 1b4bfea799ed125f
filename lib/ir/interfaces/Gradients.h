// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a derivative rule sees of the reverse walk.
#ifndef ACCC_IR_INTERFACES_GRADIENTS_H
#define ACCC_IR_INTERFACES_GRADIENTS_H

#include "mlir/IR/Builders.h"

namespace accc {

/// The reverse walk's face towards a derivative rule. Implemented by ReverseWalk (ir/prim).
class Gradients {
public:
  virtual ~Gradients() = default;

  /// Inserts after everything the rule may read.
  virtual mlir::OpBuilder &builder() = 0;

  /// True if the result has a cotangent that is not known to be zero.
  virtual bool has(mlir::Value result) = 0;

  /// The cotangent of a result of the op; zeros of its type where `has` is false.
  virtual mlir::Value of(mlir::Value result) = 0;

  /// True if somebody wants the cotangent of this operand. Rules ask before they build.
  virtual bool wants(mlir::Value operand) = 0;

  /// Adds `cotangent` (of the operand's type) to the cotangent of `operand`.
  virtual void add(mlir::Value operand, mlir::Value cotangent) = 0;
};

} // namespace accc

#endif
