// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which a graph runs what is captured from one stream.
#ifndef ACCC_RUNTIME_CUDA_CAPTUREORDER_H
#define ACCC_RUNTIME_CUDA_CAPTUREORDER_H

#include "DeviceMemory.h"

#include <vector>

namespace accc::detail {

/// Of a context's stream while it is captured. Work waits for what was captured just before it,
/// unless this names something else.
class CaptureOrder {
public:
  explicit CaptureOrder(const Context &context) : context(context) {}

  /// What the next piece of work waits for: at first the last piece.
  std::vector<CUgraphNode> last() const;
  /// Makes the next piece of work wait for these and for nothing else.
  void waitFor(std::vector<CUgraphNode> nodes);

private:
  const Context &context;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CAPTUREORDER_H
