// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CaptureOrder.h"

#include <algorithm>

namespace accc::detail {

std::vector<CUgraphNode> CaptureOrder::last() const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode *nodes = nullptr;
  size_t count = 0;
  context.driver.check(context.driver.cuStreamGetCaptureInfo(context.stream, &status, nullptr,
                                                             nullptr, &nodes, &count),
                       "capturing a step");
  return {nodes, nodes + count};
}

void CaptureOrder::waitFor(std::vector<CUgraphNode> nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  context.driver.check(
      context.driver.cuStreamUpdateCaptureDependencies(context.stream, nodes.data(), nodes.size(),
                                                       CU_STREAM_SET_CAPTURE_DEPENDENCIES),
      "capturing a step");
}

} // namespace accc::detail
