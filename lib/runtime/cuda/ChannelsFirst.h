// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CUDA_CHANNELSFIRST_H
#define ACCC_RUNTIME_CUDA_CHANNELSFIRST_H

#include "CudnnDescriptors.h"
#include "CudnnSession.h"
#include "LibraryCall.h"

namespace accc::detail {

/// A convolution whose tensors are channels last, of which cuDNN has only the one channels first:
/// transposes the operands into scratch memory, and the result back. Filters too.
class ChannelsFirst final : public LibraryCall {
public:
  /// Whether a tensor of the call is channels last.
  static bool isPossible(const accc_library_call &call);
  /// The same convolution of the transposed tensors.
  static accc_library_call convolutionOf(const accc_library_call &call);

  /// `transposed` does convolutionOf(call). `session` must outlive this.
  ChannelsFirst(const CudnnSession &session, const accc_library_call &call,
                std::unique_ptr<LibraryCall> transposed);

  /// First the copies, then the convolution's.
  uint64_t scratchBytes() const override { return copiesBytes + transposed->scratchBytes(); }
  void enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) override;

private:
  struct Copy {
    CudnnTensorDescriptor last, first;
    uint64_t offset; // in the scratch memory
  };
  void transform(const CudnnTensorDescriptor &from, CUdeviceptr source,
                 const CudnnTensorDescriptor &to, CUdeviceptr target) const;

  const CudnnSession &session;
  int32_t dtype;
  std::unique_ptr<LibraryCall> transposed;
  std::array<std::optional<Copy>, 3> copies; // of buffers that are not the same in both layouts
  uint64_t copiesBytes = 0;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CHANNELSFIRST_H
