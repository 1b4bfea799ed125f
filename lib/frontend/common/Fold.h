// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that are known while importing: shapes, indices, numbers.
#ifndef ACCC_FRONTEND_COMMON_FOLD_H
#define ACCC_FRONTEND_COMMON_FOLD_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace accc {

/// The value of a constant, or null.
mlir::DenseElementsAttr knownValue(mlir::Value value);

/// If `op` is a primitive of known operands and few results (index lists may be longer), replaces
/// it by constants before it and gives them; else gives nothing and changes nothing. The op stays,
/// unused.
llvm::SmallVector<mlir::Value> foldConstant(mlir::Operation *op);

} // namespace accc

#endif
