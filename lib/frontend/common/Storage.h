// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that PyTorch stores as parts of a storage.
#ifndef ACCC_FRONTEND_COMMON_STORAGE_H
#define ACCC_FRONTEND_COMMON_STORAGE_H

#include "frontend/common/Archive.h"
#include "support/WeightTable.h"

namespace accc::frontend {

/// The tensor `name` that begins at element `offset` of a storage. Throws ImportError where a part
/// of it lies outside.
Weight stridedWeight(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> strides, int64_t offset,
                     const Archive::Record &storage, llvm::StringRef name);

} // namespace accc::frontend

#endif
