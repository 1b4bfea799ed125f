// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of the indices of a gather or a scatter along one dimension of its data, which
// reaches prim as one of flat data.
#ifndef ACCC_FUSION_PLACESINLINES_H
#define ACCC_FUSION_PLACESINLINES_H

#include "ir/prim/Tensor.h"

#include <optional>

namespace accc {

/// Indices into flat data of the shape `data`: in all dimensions but one an index is its own
/// position, and in that one, along a line, `place`.
struct PlacesInLines {
  struct Dimension {
    int64_t extent;
    /// Which dimension of the indices counts along it; none: it is the one of the places.
    std::optional<int64_t> from;
  };
  llvm::SmallVector<Dimension> data; // of extents greater than 1, and the places' dimension
  mlir::Value place;                 // has the shape of the indices, but for reshapes
  bool mayBeOutside; // where a place is not in [0, extent()), the index is -1: an error

  /// Whether each element of the data has exactly one index.
  bool isPermutation() const;

  int64_t extent() const;
  /// How many updates a line may have.
  int64_t updates() const;
};

/// Nothing where the indices are not known to be such of `elements` elements.
std::optional<PlacesInLines> findPlaces(mlir::Value indices, int64_t elements);

/// x, of the shape that the places have, as [dimensions of the lines in the order of the data...,
/// updates of a line].
prim::Tensor byLine(prim::Tensor x, const PlacesInLines &places);

/// Whether something else than the scatter reports its indices that are out of range.
bool reportsElsewhere(prim::ScatterOp scatter);

} // namespace accc

#endif
