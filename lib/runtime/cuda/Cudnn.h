// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions and attentions by cuDNN 9.
#ifndef ACCC_RUNTIME_CUDA_CUDNN_H
#define ACCC_RUNTIME_CUDA_CUDNN_H

#include "LibraryCall.h"

namespace accc::detail {

class CudnnSession;

/// The library as one session uses it.
class Cudnn {
public:
  /// Throws Error (machine) where the library is not there or does not start.
  explicit Cudnn(const Context &context);
  ~Cudnn();

  /// `alignment` is that of all buffers in bytes. Throws Error (machine) where the library has no
  /// reproducible algorithm.
  std::unique_ptr<LibraryCall> createConvolution(const accc_library_call &call, uint64_t alignment);

  /// The same, where it has no reproducible plan.
  std::unique_ptr<LibraryCall> createAttention(const accc_library_call &call, uint64_t alignment);

  /// A SpreadPixels around `dense`.
  std::unique_ptr<LibraryCall> spread(const accc_library_call &call,
                                      std::unique_ptr<LibraryCall> dense);

  /// What of a convolution or an attention it cannot do, the library being absent among it.
  static std::optional<std::string> whyNot(const accc_library_call &call);

private:
  std::unique_ptr<const CudnnSession> session;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNN_H
