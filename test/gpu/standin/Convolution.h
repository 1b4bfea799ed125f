// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions of cuDNN's, however they were described, in double precision.
#ifndef ACCC_TEST_GPU_STANDIN_CONVOLUTION_H
#define ACCC_TEST_GPU_STANDIN_CONVOLUTION_H

#include "Library.h"

#include <array>
#include <cudnn.h>

namespace standin {

/// The first thing in each of cuDNN's functions.
#define STANDIN_ENTER(name)                                                                        \
  if (auto refused = enterLibrary(#name, CUDNN_STATUS_SUCCESS, CUDNN_STATUS_EXECUTION_FAILED,      \
                                  CUDNN_STATUS_NOT_INITIALIZED))                                   \
  return refused

std::optional<Type> elementsOf(cudnnDataType_t type);

constexpr size_t mostDims = 5;
using Index = std::array<int64_t, mostDims>;

/// The next index within `extents`; false after the last.
bool next(Index &index, const std::vector<int64_t> &extents);

/// A tensor's elements in memory, its dimensions N C and the spatial ones.
struct Strided {
  std::vector<int64_t> extents, strides;

  /// Of an element, among those from the tensor's first.
  int64_t placeOf(const Index &index) const;
  int64_t count() const;
  /// Whether they lie without gaps, channels before or behind pixels.
  bool isPacked(bool channelsLast) const;
};

enum class ConvolutionKind { Forward, Data, Weights };

struct ConvolutionProblem {
  Type type;
  Strided x, w, y;
  std::vector<int64_t> padding, paddingBehind, stride, dilation;

  /// Whether the parts fit each other.
  bool fits() const;
  int64_t groups() const { return x.extents[1] / w.extents[1]; }
  void compute(ConvolutionKind kind, CUdeviceptr x, CUdeviceptr w, CUdeviceptr y) const;

private:
  /// Calls `body` with the places in x, w and y of all products of the convolution. A place in w or
  /// y comes as often as there are products for it.
  template <typename Body> void forProducts(Body body) const;
};

} // namespace standin

struct cudnnContext {
  CUstream stream = nullptr;
};

#endif // ACCC_TEST_GPU_STANDIN_CONVOLUTION_H
