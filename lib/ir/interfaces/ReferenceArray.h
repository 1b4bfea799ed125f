// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor's value in the reference interpreter.
#ifndef ACCC_IR_INTERFACES_REFERENCEARRAY_H
#define ACCC_IR_INTERFACES_REFERENCEARRAY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace accc {

/// A dense row-major array of doubles, whatever the tensor's element type: floats are kept
/// unrounded, booleans are 0 or 1, integers are exact up to 2^53.
struct ReferenceArray {
  llvm::SmallVector<int64_t> shape;
  std::vector<double> values;

  ReferenceArray() = default;
  explicit ReferenceArray(llvm::ArrayRef<int64_t> shape, double fill = 0.0)
      : shape(shape), values(count(shape), fill) {}

  static int64_t count(llvm::ArrayRef<int64_t> shape) {
    int64_t n = 1;
    for (int64_t extent : shape)
      n *= extent;
    return n;
  }

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t size() const { return static_cast<int64_t>(values.size()); }

  /// Row-major strides in elements.
  llvm::SmallVector<int64_t> strides() const {
    llvm::SmallVector<int64_t> result(shape.size(), 1);
    for (int64_t i = rank() - 2; i >= 0; --i)
      result[i] = result[i + 1] * shape[i + 1];
    return result;
  }

  int64_t offset(llvm::ArrayRef<int64_t> index) const {
    int64_t linear = 0;
    for (int64_t i = 0; i < rank(); ++i)
      linear = linear * shape[i] + index[i];
    return linear;
  }
  double &at(llvm::ArrayRef<int64_t> index) { return values[offset(index)]; }
  double at(llvm::ArrayRef<int64_t> index) const { return values[offset(index)]; }

  /// Calls body(index) for every index of `shape` in row-major order.
  template <typename Body> static void forEachIndex(llvm::ArrayRef<int64_t> shape, Body body) {
    llvm::SmallVector<int64_t> index(shape.size(), 0);
    for (int64_t n = count(shape); n > 0; --n) {
      body(llvm::ArrayRef<int64_t>(index));
      for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
        if (++index[d] < shape[d])
          break;
        index[d] = 0;
      }
    }
  }
};

} // namespace accc

#endif
