// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cuDNN with a handle for one session.
#ifndef ACCC_RUNTIME_CUDA_CUDNNSESSION_H
#define ACCC_RUNTIME_CUDA_CUDNNSESSION_H

#include "CudnnPlans.h"
#include "DeviceMemory.h"

#include <span>

namespace accc::detail {

/// Where an operand of a graph lies: on the device, or, of a number that is given by value, here.
struct CudnnOperand {
  int64_t id;
  void *address;
};

/// The library with a handle whose work runs in the session's stream.
class CudnnSession {
public:
  /// Throws Error (machine) where the library is not there or does not start.
  explicit CudnnSession(const Context &context);
  CudnnSession(const CudnnSession &) = delete;
  ~CudnnSession() { functions.cudnnDestroy(handle); }

  /// Puts the plan's work into the session's stream. `doing` is as CudnnFunctions::check takes it.
  void execute(const CudnnPlan &plan, std::span<const CudnnOperand> operands, CUdeviceptr workspace,
               const char *doing) const;

  const Context &context;
  const CudnnFunctions &functions;
  cudnnHandle_t handle = nullptr;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNSESSION_H
