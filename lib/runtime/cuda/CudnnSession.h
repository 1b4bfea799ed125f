// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cuDNN with a handle for one session.
#ifndef ACCC_RUNTIME_CUDA_CUDNNSESSION_H
#define ACCC_RUNTIME_CUDA_CUDNNSESSION_H

#include "CudnnFunctions.h"
#include "DeviceMemory.h"

namespace accc::detail {

/// The library with a handle whose work runs in the session's stream.
class CudnnSession {
public:
  /// Throws Error (machine) where the library is not there or does not start.
  explicit CudnnSession(const Context &context);
  CudnnSession(const CudnnSession &) = delete;
  ~CudnnSession() { functions.cudnnDestroy(handle); }

  const Context &context;
  const CudnnFunctions &functions;
  cudnnHandle_t handle = nullptr;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNSESSION_H
