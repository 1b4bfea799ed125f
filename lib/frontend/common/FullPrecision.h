// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products that a module keeps in f32, by torch.autocast(enabled=False).
#ifndef ACCC_FRONTEND_COMMON_FULLPRECISION_H
#define ACCC_FRONTEND_COMMON_FULLPRECISION_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace accc::frontend {

/// Has every matrix product of f32 among the ops that a rule built, and inside of them, computed in
/// full precision, whatever --precision says: a composite becomes what it decomposes into, in which
/// each product says so itself, and with it its gradients. Convolutions have no such attribute.
/// Gives what stands for the results of composites, which nobody uses from now on. Throws
/// ImportError where one cannot be decomposed.
llvm::DenseMap<mlir::Value, mlir::Value> keepFullPrecision(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace accc::frontend

#endif
