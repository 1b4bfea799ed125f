// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which values of a block carry a derivative.
#ifndef ACCC_TRAINING_AUTODIFF_ACTIVITY_H
#define ACCC_TRAINING_AUTODIFF_ACTIVITY_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"

namespace accc {

/// Activity of the values of one block with respect to a loss and the values it is differentiated
/// by.
///
/// A value *varies* if it depends on a wanted value along a path on which every value is a float
/// and no op has a gradient that is zero. It is *useful* if the loss depends on it along such a
/// path. A value that is both is *active*; all others cost nothing in the reverse walk.
class Activity {
public:
  /// `Jumps::Pass` asks for what has a gradient at all, be it one of zeros: ops that are
  /// PiecewiseConstant lie on such paths, too.
  enum class Jumps { Stop, Pass };
  Activity(mlir::Value loss, llvm::ArrayRef<mlir::Value> wanted, Jumps jumps = Jumps::Stop);

  bool varies(mlir::Value value) const { return varying.contains(value); }
  bool isActive(mlir::Value value) const { return varies(value) && useful.contains(value); }
  /// True if the walk must visit the op: a result is active, and so is an operand.
  bool isActive(mlir::Operation *op) const;

private:
  llvm::DenseSet<mlir::Value> varying, useful;
};

/// True for tensors of floats.
bool isFloatTensor(mlir::Type type);

} // namespace accc

#endif
