// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnPlannedConvolution.h"

#include "CudnnDescriptors.h"
#include "CudnnPlans.h"
#include "Tuning.h"

#include <algorithm>

namespace accc::detail {

namespace {

/// How many are measured where that is asked for.
constexpr size_t mostMeasured = 8;

class PlannedConvolution final : public LibraryCall {
public:
  PlannedConvolution(const CudnnSession &session, const accc_library_call &call, uint64_t alignment)
      : session(session),
        graph(session.functions, CudnnMachine{.handle = session.handle}, call, alignment) {}

  /// Once, before anything else. False where there is no plan.
  bool choose(const accc_library_call &call, std::string &offers) {
    plans = graph.plans(isTuningOn() ? mostMeasured : 1, offers);
    if (plans.size() > 1)
      std::swap(plans.front(), plans[fastestOf(call)]);
    plans.erase(plans.begin() + std::min<std::ptrdiff_t>(1, std::ssize(plans)), plans.end());
    return !plans.empty();
  }

  uint64_t scratchBytes() const override {
    return static_cast<uint64_t>(plans.front().workspaceBytes);
  }
  void enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) override {
    execute(plans.front(), buffers, scratch);
  }

private:
  void execute(const CudnnPlan &plan, std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) {
    constexpr const char *doing = "a convolution (ACCC_CUDA_PLANS=0 takes cuDNN's older interface)";
    std::array<void *, cudnnBufferIds.size()> addresses{};
    for (size_t i = 0; i < addresses.size(); ++i)
      addresses[i] = reinterpret_cast<void *>(buffers[i]);
    const CudnnFunctions &functions = session.functions;
    CudnnNode pack(functions, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.setAll(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, cudnnBufferIds);
    pack.setAll(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, addresses);
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, reinterpret_cast<void *>(scratch));
    functions.check(pack.finalize(), doing);
    functions.check(functions.cudnnBackendExecute(session.handle, plan.node.raw(), pack.raw()),
                    doing);
  }

  size_t fastestOf(const accc_library_call &call) {
    int64_t scratch = 0;
    for (const CudnnPlan &plan : plans)
      scratch = std::max(scratch, plan.workspaceBytes);
    return findFastest(session.context, plans.size(), cudnnBufferBytesOf(call),
                       static_cast<uint64_t>(scratch),
                       [&](size_t i, std::span<const CUdeviceptr> buffers, CUdeviceptr at) {
                         execute(plans[i], buffers, at);
                       });
  }

  const CudnnSession &session;
  CudnnConvolutionGraph graph;
  std::vector<CudnnPlan> plans; // after choose() the one that is taken
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
