// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One convolution, or gradient of one, by an algorithm of cuDNN's.
#ifndef ACCC_RUNTIME_CUDA_CUDNNCONVOLUTION_H
#define ACCC_RUNTIME_CUDA_CUDNNCONVOLUTION_H

#include "CudnnSession.h"
#include "LibraryCall.h"

namespace accc::detail {

/// The call by the first algorithm that is reproducible and multiplies as the call wants. nullptr
/// where the library has none; `offers` then lists those that it has, and what is wrong with each.
/// No operand may be empty. `session` must outlive what is returned.
std::unique_ptr<LibraryCall> findCudnnConvolution(const CudnnSession &session,
                                                  const accc_library_call &call,
                                                  std::string &offers);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNCONVOLUTION_H
