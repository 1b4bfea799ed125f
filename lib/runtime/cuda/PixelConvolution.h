// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions by kernels of one element, as products of matrices.
#ifndef ACCC_RUNTIME_CUDA_PIXELCONVOLUTION_H
#define ACCC_RUNTIME_CUDA_PIXELCONVOLUTION_H

#include "CublasLt.h"

#include <array>

namespace accc::detail {

/// A convolution of stride 1 whose kernel is one element multiplies the matrix of its weights with
/// each image, [channels, elements of the image]. So does the gradient of its input; that of its
/// weights is a product for each image, which are then summed. In full f32 cuDNN's own kernels for
/// these gradients reach 3 to 22 TFLOP/s on an H100, where cuBLASLt has 30 to 50
/// (docs/gpu-results.md); those of the forward pass have 30, too.
class PixelConvolution final : public LibraryCall {
public:
  /// Whether the call is one of these gradients: of weights, where the products of single images
  /// are not much larger than what they are computed from; of the input, where matrices are aligned
  /// to 16 bytes.
  static bool isFaster(const accc_library_call &call);
  /// Null where cuBLASLt has no algorithm for a product.
  static std::unique_ptr<LibraryCall> create(const Context &context, CublasLt &library,
                                             const accc_library_call &call, uint64_t alignment);

  /// First the sums of single images, then the products'.
  uint64_t scratchBytes() const override;
  void prepare(std::span<const CUdeviceptr> buffers) override;
  void enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) override;

private:
  using Buffers = std::array<CUdeviceptr, 3>;
  explicit PixelConvolution(const accc_library_call &product) : product(product) {}
  static Buffers ofProduct(std::span<const CUdeviceptr> buffers);

  const accc_library_call product;
  std::optional<accc_library_call> sum; // over images
  uint64_t sumBytes = 0;
  DeviceMemory ones; // one for each image
  std::unique_ptr<LibraryCall> multiply, add;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_PIXELCONVOLUTION_H
