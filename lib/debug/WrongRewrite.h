// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which single rewrite of a transformation makes a module wrong.
#ifndef ACCC_DEBUG_WRONGREWRITE_H
#define ACCC_DEBUG_WRONGREWRITE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

#include <string>

namespace accc {

/// Runs `transform` on copies of `before`, each time with fewer rewrites let through, and gives the
/// first after which `isWrong` holds: its pattern and the op that it was applied to. Empty where no
/// single pattern is to blame: the transformation is right, or wrong before its first rewrite (by a
/// fold, or because it does not work by patterns).
///
/// `transform` must do the same each time, and so the context must not be multi-threaded; the
/// context's action handler is replaced meanwhile. A transform that fails counts as wrong.
std::string findWrongRewrite(mlir::ModuleOp before,
                             llvm::function_ref<mlir::LogicalResult(mlir::ModuleOp)> transform,
                             llvm::function_ref<bool(mlir::ModuleOp)> isWrong);

} // namespace accc

#endif
