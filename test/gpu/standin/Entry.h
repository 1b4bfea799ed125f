// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_TEST_GPU_STANDIN_ENTRY_H
#define ACCC_TEST_GPU_STANDIN_ENTRY_H

#include "Device.h"

/// What the driver's function `name` begins with: see Device::enter. The name is as in cuda.h's
/// documentation, without the version that a macro there gives it.
#define STANDIN_ENTER(name, needsContext)                                                          \
  const std::lock_guard standinLock(standin::Device::get().mutex);                                 \
  if (CUresult refused = standin::Device::get().enter(#name, needsContext))                        \
  return refused

namespace standin {

// Of cuda.h's older signatures, which its macros hide.
CUresult getCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                        CUgraph *graph, const CUgraphNode **nodes, size_t *count);
CUresult updateCaptureDependencies(CUstream stream, CUgraphNode *nodes, size_t count,
                                   unsigned int flags);

} // namespace standin

#endif // ACCC_TEST_GPU_STANDIN_ENTRY_H
