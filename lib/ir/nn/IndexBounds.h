// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the elements of an integer input may be that choose classes or rows.
#ifndef ACCC_IR_NN_INDEXBOUNDS_H
#define ACCC_IR_NN_INDEXBOUNDS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace accc {

/// On arguments (docs/function-contract.md): IndexBounds as {end, first, ignored, what}.
inline constexpr const char kIndicesAttr[] = "accc.indices";

struct IndexBounds {
  int64_t first = 0, end = 0;     ///< in [first, end)
  std::optional<int64_t> ignored; ///< or this
  llvm::StringRef what;           ///< "classes", "rows"

  mlir::DictionaryAttr toAttr(mlir::MLIRContext *context) const;
  static IndexBounds fromAttr(mlir::DictionaryAttr attribute);
};

/// The bounds outside of which some element of `input` is an error in the data of the ops that it
/// reaches with all of its elements unchanged; none where there is no such op, and none where every
/// element is an error.
std::optional<IndexBounds> findIndexBounds(mlir::Value input);

} // namespace accc

#endif
