// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of which the last bit counts where they are computed again.
#ifndef ACCC_BUDGET_SAMEBITS_H
#define ACCC_BUDGET_SAMEBITS_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"

namespace accc {

/// Most of what reads a value that is computed again may have it with another rounding. But what is
/// compared with another value must be what that was found in: a gradient looks for the elements
/// that are equal to their maximum, and divides by their number. The same holds for what it is
/// computed from, through all ops, and for other ops whose results jump.
class SameBits {
public:
  /// Of a block of ops or of kernels, as it is now.
  explicit SameBits(mlir::Block &block);

  /// Whether what `at` and the ops behind it read has to be the value to the last bit.
  bool areWanted(mlir::Value value, mlir::Operation *at) const {
    mlir::Operation *reader = last.lookup(value);
    return reader && !reader->isBeforeInBlock(at);
  }
  /// Whether any op wants that.
  bool areWanted(mlir::Value value) const { return last.contains(value); }

private:
  llvm::SmallVector<bool> operandsWanted(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Value, mlir::Operation *> last; // that wants them
};

} // namespace accc

#endif
