// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks several strided arrays in step: the loop under most `evaluate` rules.
#ifndef ACCC_IR_PRIM_STRIDEDLOOP_H
#define ACCC_IR_PRIM_STRIDEDLOOP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <tuple>

namespace accc {

/// How one array is walked: the offset of the first element and the step of each dimension, in
/// elements.
struct StridedWalk {
  llvm::SmallVector<int64_t, 6> strides;
  int64_t start = 0;
};

/// Calls body(offset of walks[0], offset of walks[1], ...) for every index of `shape`, row-major.
/// Each walk has one stride for each dimension of `shape`.
template <size_t N, typename Body>
void stridedLoop(llvm::ArrayRef<int64_t> shape, const std::array<StridedWalk, N> &walks,
                 Body body) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  if (count == 0)
    return;
  std::array<int64_t, N> offsets;
  for (size_t k = 0; k < N; ++k)
    offsets[k] = walks[k].start;
  auto call = [&](const std::array<int64_t, N> &at) { std::apply(body, at); };
  if (shape.empty())
    return call(offsets);

  int64_t last = static_cast<int64_t>(shape.size()) - 1;
  llvm::SmallVector<int64_t, 6> index(shape.size(), 0);
  while (true) {
    std::array<int64_t, N> row = offsets;
    for (int64_t i = 0; i < shape[last]; ++i) {
      call(row);
      for (size_t k = 0; k < N; ++k)
        row[k] += walks[k].strides[last];
    }
    int64_t d = last - 1;
    for (; d >= 0; --d) {
      for (size_t k = 0; k < N; ++k)
        offsets[k] += walks[k].strides[d];
      if (++index[d] < shape[d])
        break;
      for (size_t k = 0; k < N; ++k)
        offsets[k] -= walks[k].strides[d] * shape[d];
      index[d] = 0;
    }
    if (d < 0)
      return;
  }
}

} // namespace accc

#endif
