// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks that shape rules share, with messages that name the op, the attribute and the numbers.
#ifndef ACCC_IR_PRIM_INFER_H
#define ACCC_IR_PRIM_INFER_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

namespace accc::prim {

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Reports an error of the op `Op`, which need not exist yet.
template <typename Op, typename... Args>
mlir::LogicalResult inferError(std::optional<mlir::Location> loc, Args &&...args) {
  return mlir::emitOptionalError(loc, "'", Op::getOperationName(), "' op ",
                                 std::forward<Args>(args)...);
}

/// A list attribute has as many entries as the operand has dimensions.
template <typename Op>
mlir::LogicalResult checkEntries(std::optional<mlir::Location> loc, llvm::StringRef name,
                                 llvm::ArrayRef<int64_t> list, int64_t rank) {
  if (static_cast<int64_t>(list.size()) == rank)
    return mlir::success();
  return inferError<Op>(loc, "'", name, "' has ", list.size(), " entries for an operand of rank ",
                        rank);
}

/// Every entry of a list attribute is at least `least`.
template <typename Op>
mlir::LogicalResult checkLeast(std::optional<mlir::Location> loc, llvm::StringRef name,
                               llvm::ArrayRef<int64_t> list, int64_t least) {
  for (int64_t entry : list)
    if (entry < least)
      return inferError<Op>(loc, "'", name, "' has the entry ", entry, ", less than ", least);
  return mlir::success();
}

/// 0 <= dimension < rank.
template <typename Op>
mlir::LogicalResult checkDimension(std::optional<mlir::Location> loc, llvm::StringRef name,
                                   int64_t dimension, int64_t rank) {
  if (dimension >= 0 && dimension < rank)
    return mlir::success();
  return inferError<Op>(loc, "'", name, "' is ", dimension, ", out of range for rank ", rank);
}

/// Distinct dimensions, each in range.
template <typename Op>
mlir::LogicalResult checkDimensions(std::optional<mlir::Location> loc, llvm::StringRef name,
                                    llvm::ArrayRef<int64_t> list, int64_t rank) {
  llvm::SmallVector<bool> seen(rank, false);
  for (int64_t dimension : list) {
    if (failed(checkDimension<Op>(loc, name, dimension, rank)))
      return mlir::failure();
    if (seen[dimension])
      return inferError<Op>(loc, "'", name, "' names dimension ", dimension, " twice");
    seen[dimension] = true;
  }
  return mlir::success();
}

} // namespace accc::prim

#endif
