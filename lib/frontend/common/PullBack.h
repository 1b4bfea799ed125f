// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivatives of what an importer builds.
#ifndef ACCC_FRONTEND_COMMON_PULLBACK_H
#define ACCC_FRONTEND_COMMON_PULLBACK_H

#include "frontend/common/NodeBuilder.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace accc::frontend {

/// The vector-Jacobian product of a function at `primals`: a gradient for each of them, zeros where
/// the result does not depend on it. `function` builds its result at the end of @forward from
/// values that stand for the primals, none of which is computed from another; `cotangent` gives
/// that of the result. Of what the function builds, only what the gradients need stays. Throws
/// ImportError where a part of the function has no derivative.
llvm::SmallVector<prim::Tensor>
pullBack(const NodeBuilder &node, llvm::ArrayRef<mlir::Value> primals,
         llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value> leaves)> function,
         llvm::function_ref<mlir::Value(prim::Tensor result)> cotangent);

} // namespace accc::frontend

#endif
