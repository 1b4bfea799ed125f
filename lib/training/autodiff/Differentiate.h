// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reverse-mode automatic differentiation of one block.
#ifndef ACCC_TRAINING_AUTODIFF_DIFFERENTIATE_H
#define ACCC_TRAINING_AUTODIFF_DIFFERENTIATE_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

namespace accc {

/// Builds d loss / d value for each wanted value, walking the loss's block backwards and asking
/// each op for its vector-Jacobian product. Knows no op by name.
///
///   loss     a float tensor of rank 0
///   wanted   float tensors, of the same block: arguments or results, each once
///   builder  inserts where everything in the block before it may be read: after the loss and all
///            that the rules need, usually before the block's terminator
///   seed     d loss / d loss, of the loss's type: 1 where it is null
///
/// Gives one value for each wanted one, of its type: a constant of zeros where the loss depends on
/// it only through ops that are PiecewiseConstant, as in PyTorch, and a null value where it does
/// not (or through others whose gradient is zero). Composite ops on the way without a rule of their
/// own are replaced by their decompositions first: hold values of the block by their uses. If an op
/// on the way has neither a rule, nor a zero gradient, nor a decomposition, there is one error for
/// each such op, and nothing is built.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> differentiate(mlir::Value loss,
                                                              llvm::ArrayRef<mlir::Value> wanted,
                                                              mlir::OpBuilder &builder,
                                                              mlir::Value seed = {});

} // namespace accc

#endif
