// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One convolution, or gradient of one, by an algorithm of cuDNN's.
#ifndef ACCC_RUNTIME_CUDA_CUDNNCONVOLUTION_H
#define ACCC_RUNTIME_CUDA_CUDNNCONVOLUTION_H

#include "CudnnSession.h"
#include "LibraryCall.h"

#include <array>

namespace accc::detail {

/// Elements of the input, weights and output.
std::array<int64_t, 3> elementsOf(const accc_convolution &convolution);

/// The call by the first algorithm that is reproducible and multiplies as the call wants, or by the
/// fastest of these (isTuningOn). nullptr where the library has none; `offers` then lists those
/// that it has, and what is wrong with each. No operand may be empty. `session` must outlive what
/// is returned.
std::unique_ptr<LibraryCall> findCudnnConvolution(const CudnnSession &session,
                                                  const accc_library_call &call,
                                                  std::string &offers);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNCONVOLUTION_H
