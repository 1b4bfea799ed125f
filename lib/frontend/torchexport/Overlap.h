// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that share memory in part.
#ifndef ACCC_FRONTEND_TORCHEXPORT_OVERLAP_H
#define ACCC_FRONTEND_TORCHEXPORT_OVERLAP_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace accc::torchexport {

/// The elements of a tensor inside its storage. All numbers are of bytes but for the shape.
struct MemoryView {
  std::string storage;
  int64_t offset = 0, width = 1;
  llvm::SmallVector<int64_t> shape, strides; // none of them negative
};

/// Of a tensor whose offset and strides count elements.
MemoryView viewOf(const std::string &storage, mlir::RankedTensorType type, int64_t offset,
                  llvm::ArrayRef<int64_t> strides);

/// A view with what is told of it.
struct NamedView {
  MemoryView view;
  /// "parameter 'weight'".
  std::string what;
  /// Its elements change while the program is trained.
  bool changes = false;
};

/// A line for each view that shares memory with another in part, or with itself, where one of the
/// two changes: a copy of each in its own memory would not follow the other. Views without elements
/// share nothing.
std::vector<std::string> findOverlaps(llvm::ArrayRef<NamedView> views);

} // namespace accc::torchexport

#endif
