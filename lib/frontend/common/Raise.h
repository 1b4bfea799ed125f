// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composite operators that an exporter took apart, put together again.
#ifndef ACCC_FRONTEND_COMMON_RAISE_H
#define ACCC_FRONTEND_COMMON_RAISE_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"

namespace accc {

/// Replaces what computes a composite of `nn` by that op, where it is better to have it whole: a
/// library runs it, its derivative is better, or its parts overflow (log of logistic or of
/// softmax). Constants of formulas are compared within 1e-6. What has lost its use stays behind.
void raiseComposites(mlir::Block &block);

/// Gives what may stand for the op's one result, built before it; or null, having built nothing
/// that counts.
using RaiseRule = mlir::Value (*)(mlir::Operation *op, mlir::OpBuilder &builder);

llvm::ArrayRef<RaiseRule> raiseActivations();
llvm::ArrayRef<RaiseRule> raiseNormalizations();
llvm::ArrayRef<RaiseRule> raiseLinears();

} // namespace accc

#endif
