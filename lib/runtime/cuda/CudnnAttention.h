// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CUDA_CUDNNATTENTION_H
#define ACCC_RUNTIME_CUDA_CUDNNATTENTION_H

#include "CudnnSession.h"
#include "LibraryCall.h"

namespace accc::detail {

/// An attention, or its gradients, by the first of cuDNN's plans (CudnnAttentionGraph), or by the
/// fastest of some (isTuningOn), in parts of the batch where its gradients would want too much
/// memory at once. nullptr where there is none, and `offers` says why. `session` must outlive what
/// is returned.
std::unique_ptr<LibraryCall> planCudnnAttention(const CudnnSession &session,
                                                const accc_library_call &call, uint64_t alignment,
                                                std::string &offers);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNATTENTION_H
