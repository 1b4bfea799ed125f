// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A batched matrix product in a form that libraries have words for.
#ifndef ACCC_RUNTIME_CPU_MATMULSHAPE_H
#define ACCC_RUNTIME_CPU_MATMULSHAPE_H

#include "accc/abi.h"

#include <optional>
#include <vector>

namespace accc::detail {

/// A matrix in BLAS's words: lines `lead` elements apart, which are its rows, or its columns where
/// it is transposed.
struct MatrixLayout {
  bool transposed;
  int64_t lead;
};

/// One loop over products: its extent, and what it adds to the offset of each operand.
struct BatchLoop {
  int64_t extent, a, b, c;
};

/// c = a b for every combination of the loops, equivalent to an accc_matmul but with as few loops
/// and as large products as possible, and with c lying in rows wherever it lay in rows or columns.
struct MatmulShape {
  explicit MatmulShape(const accc_matmul &call);

  int64_t m, n, k;
  int64_t aRow, aColumn, bRow, bColumn, cRow, cColumn; // strides
  std::vector<BatchLoop> loops;                        // outermost first, none of extent 1
  int64_t products = 1;                                // of the loops' extents
  bool swapped = false; // a and b have changed places: the product was transposed

  /// Nothing where rows overlap or both strides are above 1.
  std::optional<MatrixLayout> a, b;
  /// Never transposed.
  std::optional<MatrixLayout> c;
  bool fitsBlas() const { return a && b && c; }
  /// True if the loops walk over panels of n columns that make up a larger b: [products, k, n] in
  /// memory, with the columns of the results side by side in rows of c and one a for all.
  bool bInPanels() const;

private:
  void foldIntoProduct();
  void mergeLoops();
  void turnResult();
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CPU_MATMULSHAPE_H
