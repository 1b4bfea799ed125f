// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that are known while importing: shapes, indices, numbers.
#ifndef ACCC_FRONTEND_COMMON_FOLD_H
#define ACCC_FRONTEND_COMMON_FOLD_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include <functional>

namespace accc {

/// Whether the op gives elements of its operands elsewhere, which all are of the result's type, and
/// reads no indices.
bool moves(mlir::Operation &op);

/// The value of a constant, or null.
mlir::DenseElementsAttr knownValue(mlir::Value value);

/// Arguments of the block of which the values are given: which ones, and these values.
struct GivenValues {
  std::function<bool(mlir::Value)> has = [](mlir::Value) { return false; };
  std::function<mlir::DenseElementsAttr(mlir::Value)> of = {};
};

/// The value of what is computed from constants and given values, or null. It may have any number
/// of elements, but the work is bounded.
mlir::DenseElementsAttr knownValue(mlir::Value value, const GivenValues &given);

/// Why knownValue(value, given) is null: the producer at which folding stopped, and the argument of
/// the block that it reads (null where its operands are all known, and it does not fold all the
/// same). The producer is null where `value` is that argument.
struct FoldingStop {
  mlir::Operation *producer = nullptr;
  mlir::Value argument;
};
FoldingStop findFoldingStop(mlir::Value value, const GivenValues &given);

/// If the operands of `op`, primitive or composite, are known and its results are few (index lists
/// may be longer), makes constants of them before it and gives these; else gives nothing and
/// changes nothing. The op stays, unused.
llvm::SmallVector<mlir::Value> foldConstant(mlir::Operation *op);

} // namespace accc

#endif
