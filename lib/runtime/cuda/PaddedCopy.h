// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CUDA_PADDEDCOPY_H
#define ACCC_RUNTIME_CUDA_PADDEDCOPY_H

#include "DeviceMemory.h"
#include "accc/abi.h"

#include <array>

namespace accc::detail {

/// The input of a convolution with its padding around it, for libraries that pad both ends of a
/// dimension alike. Negative padding cuts.
class PaddedCopy {
public:
  PaddedCopy(const Context &context, const accc_convolution &convolution, uint64_t elementBytes);

  static bool isNeeded(const accc_convolution &convolution);

  /// The same convolution of what is padded already.
  accc_convolution convolution() const;
  uint64_t bytes() const;

  /// Writes all of `padded` from `plain`.
  void pad(CUdeviceptr plain, CUdeviceptr padded) const;
  /// Writes all of `plain`: zeros where padding cuts it.
  void cut(CUdeviceptr padded, CUdeviceptr plain) const;

private:
  static constexpr size_t dims = 3; // depth, height, width; 1 where there are fewer
  struct Box {
    std::array<int64_t, dims> size, first; // of a tensor, and where the common part starts in it
  };
  void clear(const Box &box, CUdeviceptr memory) const;
  void copy(const Box &from, CUdeviceptr source, const Box &to, CUdeviceptr target) const;
  uint64_t bytesOf(const Box &box) const;

  const Context &context;
  const accc_convolution &plainConvolution;
  Box plain, padded;
  std::array<int64_t, dims> common; // extents of the part that both have
  int64_t images, pixelBytes;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_PADDEDCOPY_H
