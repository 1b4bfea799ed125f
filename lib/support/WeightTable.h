// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The initial values of a model's variables, kept beside the IR.
#ifndef ACCC_SUPPORT_WEIGHTTABLE_H
#define ACCC_SUPPORT_WEIGHTTABLE_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/MapVector.h"

#include <memory>
#include <string>

namespace accc {

/// A variable's initial value: row-major, little-endian; booleans one byte each. `owner` keeps the
/// bytes alive (a buffer, or a mapped file).
struct Weight {
  mlir::RankedTensorType type;
  llvm::ArrayRef<char> bytes;
  std::shared_ptr<const void> owner;
};

/// By variable name, in the order of insertion.
using WeightTable = llvm::MapVector<std::string, Weight, std::map<std::string, unsigned>>;

} // namespace accc

#endif
