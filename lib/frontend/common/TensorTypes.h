// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of a model file as ours, within bounds.
#ifndef ACCC_FRONTEND_COMMON_TENSORTYPES_H
#define ACCC_FRONTEND_COMMON_TENSORTYPES_H

#include "support/WeightTable.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace accc::frontend {

/// A tensor type whose extents are not negative and whose size in bytes fits 2^40. Throws
/// ImportError.
mlir::RankedTensorType tensorType(llvm::ArrayRef<int64_t> shape, mlir::Type elementType);

/// The bytes of one element; a boolean takes one.
uint64_t byteWidth(mlir::Type elementType);
/// The bytes of all elements.
uint64_t byteSize(mlir::RankedTensorType type);

/// Bytes that belong to the weight.
Weight ownedWeight(mlir::RankedTensorType type, std::vector<char> bytes);

/// The same value as an attribute: booleans one byte each, everything row-major, little-endian.
mlir::DenseElementsAttr attributeOf(const Weight &weight);

/// "[2, 3]"
std::string show(llvm::ArrayRef<int64_t> shape);
/// "f32[2, 3]"
std::string show(mlir::RankedTensorType type);

} // namespace accc::frontend

#endif
