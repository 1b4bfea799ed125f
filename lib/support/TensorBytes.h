// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much memory tensors take.
#ifndef ACCC_SUPPORT_TENSORBYTES_H
#define ACCC_SUPPORT_TENSORBYTES_H

#include "mlir/IR/BuiltinTypes.h"

#include <algorithm>

namespace accc {

/// Bytes of one element in memory; a boolean takes one.
inline int64_t elementBytes(mlir::RankedTensorType type) {
  return std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1);
}

/// Bytes of all elements, which lie behind one another.
inline int64_t tensorBytes(mlir::RankedTensorType type) {
  return type.getNumElements() * elementBytes(type);
}

} // namespace accc

#endif
