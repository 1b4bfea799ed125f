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
inline int64_t tensorBytes(mlir::Value tensor) {
  return tensorBytes(mlir::cast<mlir::RankedTensorType>(tensor.getType()));
}

/// Whether elements of the same row-major index lie at the same place in the memory of each. As
/// many bytes are not enough: half of a tensor of f32, widened to f64, has these, too.
inline bool haveSamePlaces(mlir::RankedTensorType a, mlir::RankedTensorType b) {
  return elementBytes(a) == elementBytes(b) && a.getNumElements() == b.getNumElements();
}

} // namespace accc

#endif
