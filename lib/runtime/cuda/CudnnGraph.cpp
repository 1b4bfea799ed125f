// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnGraph.h"

#include <algorithm>

namespace accc::detail {

size_t CudnnNode::get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                      int64_t most, void *into) const {
  int64_t count = 0;
  if (functions->cudnnBackendGetAttribute(descriptor, name, type, most, &count, into) !=
      CUDNN_STATUS_SUCCESS)
    return 0;
  return static_cast<size_t>(std::clamp<int64_t>(count, 0, most));
}

size_t CudnnNode::get(cudnnBackendAttributeName_t name, std::vector<CudnnNode> &into) const {
  std::vector<cudnnBackendDescriptor_t> all;
  for (const CudnnNode &each : into)
    all.push_back(each.descriptor);
  return get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, int64_t(all.size()), all.data());
}

int64_t CudnnNode::count(cudnnBackendAttributeName_t name) const {
  int64_t count = 0;
  cudnnStatus_t status = functions->cudnnBackendGetAttribute(
      descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr);
  return status == CUDNN_STATUS_SUCCESS ? count : 0;
}

} // namespace accc::detail
