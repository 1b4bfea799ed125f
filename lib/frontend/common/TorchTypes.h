// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types as PyTorch counts and names them.
#ifndef ACCC_FRONTEND_COMMON_TORCHTYPES_H
#define ACCC_FRONTEND_COMMON_TORCHTYPES_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/StringRef.h"

namespace accc::frontend {

/// The element type of a number of c10::ScalarType: 6 is float32. Throws ImportError for those that
/// accc does not have.
mlir::Type typeOfCode(mlir::MLIRContext &context, int64_t code);
/// Its number.
int64_t codeOf(mlir::Type type);
/// The element type of torch's name for it, "float32", or null.
mlir::Type typeOfName(mlir::MLIRContext &context, llvm::StringRef name);
/// The element type of a class of storages, "FloatStorage". Throws ImportError.
mlir::Type typeOfStorage(mlir::MLIRContext &context, llvm::StringRef name);

} // namespace accc::frontend

#endif
