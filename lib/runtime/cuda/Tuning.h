// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CUDA_TUNING_H
#define ACCC_RUNTIME_CUDA_TUNING_H

#include "DeviceMemory.h"

#include <functional>
#include <span>
#include <vector>

namespace accc::detail {

/// Whether algorithms of libraries are chosen by measuring them when a model is loaded
/// (ACCC_CUDA_TUNE=1), instead of by what the library expects. Which one is the fastest may differ
/// from process to process, and with it the last bits of what is computed.
bool isTuningOn();

/// The number of the fastest of `count` ways to do something: the first, unless another takes less
/// than nine tenths of its time. `start` puts the work of one into the context's stream, with
/// buffers of these sizes; one that throws Error is passed over, unless all do.
size_t findFastest(const Context &context, size_t count, std::span<const uint64_t> bufferBytes,
                   uint64_t scratchBytes,
                   const std::function<void(size_t, std::span<const CUdeviceptr> buffers,
                                            CUdeviceptr scratch)> &start);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_TUNING_H
