// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CUDA_CUDNNPLANNEDCONVOLUTION_H
#define ACCC_RUNTIME_CUDA_CUDNNPLANNEDCONVOLUTION_H

#include "CudnnSession.h"
#include "LibraryCall.h"

namespace accc::detail {

/// The call by the first of cuDNN's plans (CudnnConvolutionGraph), or by the fastest of some
/// (isTuningOn). nullptr where there is none, and `offers` says why. No operand may be empty.
/// `session` must outlive what is returned.
std::unique_ptr<LibraryCall> planCudnnConvolution(const CudnnSession &session,
                                                  const accc_library_call &call, uint64_t alignment,
                                                  std::string &offers);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNPLANNEDCONVOLUTION_H
