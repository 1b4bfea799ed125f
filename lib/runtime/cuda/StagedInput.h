// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A large input that is copied to the device while the run before works there: in a second stream,
// into a staging buffer. Its own run begins by copying it from there to its place, which takes a
// fraction of the time, so that every run, and thus one graph, reads it in the same place.
#ifndef ACCC_RUNTIME_CUDA_STAGEDINPUT_H
#define ACCC_RUNTIME_CUDA_STAGEDINPUT_H

#include "DeviceMemory.h"

#include <string>

namespace accc::detail {

/// One buffer serves both slots. The host sends an input when all runs but the last one are over,
/// and that one begins by taking its own input out of the buffer: with a buffer for each slot the
/// copy would begin hardly earlier.
class StagedInput {
public:
  /// Throws Error (machine) where the device has no memory for it.
  StagedInput(const Context &context, uint64_t bytes, const std::string &entry);

  /// Queues the copy of the input from `pinned`, pinned memory of the host, to its place `to`. The
  /// pinned memory must stay as it is until the work that is now in the context's stream is done.
  void copy(CUdeviceptr to, const char *pinned) const;
  uint64_t bytes() const { return memory.size(); }

private:
  const Context &context;
  std::string doing;   // as Driver::check takes it
  DeviceMemory memory; // the staging buffer
  CUstream copies;
  Event arrived; // in the staging buffer
  Event taken;   // out of it
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_STAGEDINPUT_H
