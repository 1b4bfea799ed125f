// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the GPUs of a group exchange, by NCCL.
#ifndef ACCC_RUNTIME_CUDA_NCCL_H
#define ACCC_RUNTIME_CUDA_NCCL_H

#include "DeviceMemory.h"
#include "accc/abi.h"
#include "accc/group.h"

#include <memory>
#include <span>

namespace accc::detail {

struct NcclFunctions;

/// The GPUs of a group's processes, one each. All of them make one, and the same calls of it in the
/// same order.
class Nccl {
public:
  /// Throws Error (machine) in all processes where one of them lacks the library, or has no GPU of
  /// its own.
  Nccl(const Context &context, Group &group);
  Nccl(const Nccl &) = delete;

  /// Puts a collective into the session's stream, where it may be captured. `buffers` are those of
  /// the step, and `addresses` where they are.
  void enqueue(const accc_collective &collective, std::span<const accc_buffer> buffers,
               std::span<const CUdeviceptr> addresses) const;
  /// Puts there what makes an int64_t the greatest that any process has.
  void enqueueMaximum(CUdeviceptr number) const;

private:
  struct Leave {
    const NcclFunctions *functions;
    void operator()(void *communicator) const;
  };

  const Context &context;
  const NcclFunctions *functions = nullptr;
  std::unique_ptr<void, Leave> communicator; // ncclComm_t
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_NCCL_H
