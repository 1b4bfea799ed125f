// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CUDA_SPREADPIXELS_H
#define ACCC_RUNTIME_CUDA_SPREADPIXELS_H

#include "CudnnDescriptors.h"
#include "CudnnSession.h"
#include "LibraryCall.h"

namespace accc::detail {

/// The gradient of the input of a convolution whose kernel is one element and whose stride is not
/// 1: zero, but for every so many elements, which are those of stride 1. Channels first.
class SpreadPixels final : public LibraryCall {
public:
  static bool isPossible(const accc_library_call &call);
  /// The same gradient with a stride of 1.
  static accc_library_call denseOf(const accc_library_call &call);

  /// `dense` does denseOf(call). `session` must outlive this.
  SpreadPixels(const CudnnSession &session, const accc_library_call &call,
               std::unique_ptr<LibraryCall> dense);

  /// First the dense gradient, then what that needs.
  uint64_t scratchBytes() const override { return denseBytes + dense->scratchBytes(); }
  void enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) override;

private:
  const CudnnSession &session;
  int32_t dtype;
  std::unique_ptr<LibraryCall> dense;
  CudnnTensorDescriptor together, apart;
  uint64_t denseBytes, bytes; // of the result
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_SPREADPIXELS_H
