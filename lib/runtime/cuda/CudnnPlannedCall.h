// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CUDA_CUDNNPLANNEDCALL_H
#define ACCC_RUNTIME_CUDA_CUDNNPLANNEDCALL_H

#include "CudnnSession.h"
#include "LibraryCall.h"

namespace accc::detail {

/// A call by one of cuDNN's plans for a graph.
class CudnnPlannedCall : public LibraryCall {
public:
  uint64_t scratchBytes() const override { return scratchFor(plans.front()); }
  void enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) override {
    execute(plans.front(), buffers, scratch);
  }

protected:
  /// `session` must outlive this.
  explicit CudnnPlannedCall(const CudnnSession &session) : session(session) {}

  /// Takes the first plan, or the fastest of some (isTuningOn), for buffers of these sizes. False
  /// where there is none, and `offers` says why. To be called once, before anything else.
  bool choose(const CudnnPlannedGraph &graph, std::span<const uint64_t> bufferBytes,
              std::string &offers);
  /// What the call itself needs of its scratch, at the beginning.
  virtual uint64_t ownScratchBytes() const { return 0; }
  virtual void execute(const CudnnPlan &plan, std::span<const CUdeviceptr> buffers,
                       CUdeviceptr scratch) = 0;

  const CudnnSession &session;

private:
  uint64_t scratchFor(const CudnnPlan &plan) const {
    return ownScratchBytes() + static_cast<uint64_t>(plan.workspaceBytes);
  }
  size_t fastestFor(std::span<const uint64_t> bufferBytes);

  std::vector<CudnnPlan> plans; // after choose() the one that is taken
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNPLANNEDCALL_H
