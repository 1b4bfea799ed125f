// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnPlannedConvolution.h"

#include "CudnnConvolutionGraph.h"
#include "CudnnDescriptors.h"
#include "CudnnPlannedCall.h"

namespace accc::detail {

namespace {

class PlannedConvolution final : public CudnnPlannedCall {
public:
  PlannedConvolution(const CudnnSession &session, const accc_library_call &call, uint64_t alignment)
      : CudnnPlannedCall(session),
        graph(session.functions, CudnnMachine{.handle = session.handle}, call, alignment) {}

  /// Once, before anything else. False where there is no plan.
  bool choose(const accc_library_call &call, std::string &offers) {
    return CudnnPlannedCall::choose(graph, cudnnBufferBytesOf(call), offers);
  }

private:
  void execute(const CudnnPlan &plan, std::span<const CUdeviceptr> buffers,
               CUdeviceptr scratch) override {
    constexpr const char *doing = "a convolution (ACCC_CUDA_PLANS=0 takes cuDNN's older interface)";
    std::vector<CudnnOperand> operands;
    for (size_t i = 0; i < cudnnBufferIds.size(); ++i)
      operands.push_back({cudnnBufferIds[i], reinterpret_cast<void *>(buffers[i])});
    session.execute(plan, operands, scratch, doing);
  }

  CudnnConvolutionGraph graph;
};

} // namespace

std::unique_ptr<LibraryCall> planCudnnConvolution(const CudnnSession &session,
                                                  const accc_library_call &call, uint64_t alignment,
                                                  std::string &offers) {
  auto made = std::make_unique<PlannedConvolution>(session, call, alignment);
  if (!made->choose(call, offers))
    return nullptr;
  return made;
}

} // namespace accc::detail
