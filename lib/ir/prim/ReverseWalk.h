// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cotangents of values, found by walking ops backwards.
#ifndef ACCC_IR_PRIM_REVERSEWALK_H
#define ACCC_IR_PRIM_REVERSEWALK_H

#include "ir/interfaces/Gradients.h"

#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace accc {

/// The cotangents found so far. Users visit ops, later ones first, of which a result has one.
class ReverseWalk final : public Gradients {
public:
  /// `varies` says whether anybody wants a value's cotangent. `builder` inserts after everything
  /// that derivative rules may read.
  ReverseWalk(std::function<bool(mlir::Value)> varies, mlir::OpBuilder &builder)
      : varies(std::move(varies)), build(builder) {}

  // ---- for derivative rules ----
  mlir::OpBuilder &builder() override { return build; }
  bool has(mlir::Value result) override { return cotangents.contains(result); }
  bool wants(mlir::Value operand) override { return varies(operand); }
  mlir::Value of(mlir::Value result) override;
  void add(mlir::Value operand, mlir::Value cotangent) override;

  // ---- for who walks ----
  /// What the walk starts with.
  void seed(mlir::Value value, mlir::Value cotangent) { cotangents[value] = cotangent; }
  /// Asks the op, which is Differentiable, for the cotangents of its operands.
  mlir::LogicalResult visit(mlir::Operation *op);
  /// The cotangent of a value, or null.
  mlir::Value find(mlir::Value value) const { return cotangents.lookup(value); }

private:
  /// The op behind which the rules build.
  mlir::Operation *lastBuilt() { return &*std::prev(build.getInsertionPoint()); }

  std::function<bool(mlir::Value)> varies;
  mlir::OpBuilder &build;
  llvm::DenseMap<mlir::Value, mlir::Value> cotangents;
  mlir::Operation *current = nullptr;
  bool broken = false;
};

/// Replaces an op, which is Decomposable, by its decomposition; those of the `tracked` values that
/// were its results follow.
mlir::LogicalResult decomposeInPlace(mlir::Operation *op,
                                     llvm::MutableArrayRef<mlir::Value> tracked);

/// The rule of an op that is Decomposable: the derivative of what it decomposes into, which is
/// built again for it.
mlir::LogicalResult differentiateParts(mlir::Operation *op, Gradients &gradients);

} // namespace accc

#endif
