// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types as compiled models and custom operators name them.
#ifndef ACCC_IR_PRIM_ELEMENTTYPES_H
#define ACCC_IR_PRIM_ELEMENTTYPES_H

#include "accc/abi.h"

#include "mlir/IR/BuiltinTypes.h"

namespace accc {

/// The ABI's element type.
accc_dtype dtypeOf(mlir::Type elementType);

/// The element type that an accc_dtype stands for; null where it is none.
mlir::Type elementTypeOf(mlir::MLIRContext *context, int32_t dtype);

} // namespace accc

#endif
