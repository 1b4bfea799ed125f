// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the kernels of a compiled model cost on an NVIDIA GPU, counted without one: the PTX
// interpreter runs each launch once, or a sample of its blocks, ptxas says what registers it takes.
#ifndef ACCC_DRIVER_GPUKERNELS_H
#define ACCC_DRIVER_GPUKERNELS_H

#include "accc/abi.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace accc {

/// Equal launches of an entry point, which differ in their buffers only.
struct GpuLaunches {
  std::string label;  // accc_step.label
  std::string module; // what all of them have in common (mergeModuleNames)
  int count = 0;
  int64_t blocks = 0;
  int32_t threads = 0;       // of a block
  uint64_t leastBytes = 0;   // that any kernel must move: its buffers, once
  std::string error;         // of the run; then there are no counts
  uint64_t movedBytes = 0;   // in sectors of 32 bytes, each warp's accesses by themselves
  uint64_t instructions = 0; // that warps issue
  uint64_t bankConflicts = 0;
  std::optional<int> registers; // of a thread, and
  int spilledBytes = 0;         // what does not fit in them, where there is a ptxas
};

/// The launches of `entry`, one of the entries of `code`, which holds PTX. Tensors are zeros.
/// Of a launch of many blocks some are run, and the counts are scaled to all. One of more than
/// `stepLimit` instructions is not run to the end and has an error.
std::vector<GpuLaunches> countLaunches(const accc_code &code, const accc_entry &entry,
                                       uint64_t stepLimit);

} // namespace accc

#endif
