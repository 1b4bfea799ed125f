// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnPlannedCall.h"

#include "Tuning.h"

#include <algorithm>

namespace accc::detail {

/// How many are measured where that is asked for.
static constexpr size_t mostMeasured = 8;

bool CudnnPlannedCall::choose(const CudnnPlannedGraph &graph, std::span<const uint64_t> bufferBytes,
                              std::string &offers) {
  plans = graph.plans(isTuningOn() ? mostMeasured : 1, offers);
  if (plans.size() > 1)
    std::swap(plans.front(), plans[fastestFor(bufferBytes)]);
  plans.erase(plans.begin() + std::min<std::ptrdiff_t>(1, std::ssize(plans)), plans.end());
  return !plans.empty();
}

size_t CudnnPlannedCall::fastestFor(std::span<const uint64_t> bufferBytes) {
  uint64_t scratch = 0;
  for (const CudnnPlan &plan : plans)
    scratch = std::max(scratch, scratchFor(plan));
  return findFastest(session.context, plans.size(), bufferBytes, scratch,
                     [&](size_t i, std::span<const CUdeviceptr> buffers, CUdeviceptr at) {
                       execute(plans[i], buffers, at);
                     });
}

} // namespace accc::detail
