// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tuning.h"

#include "Environment.h"
#include "accc/error.h"

#include <algorithm>
#include <limits>

namespace accc::detail {

namespace {

constexpr const char *doing = "measuring an algorithm";
constexpr int rounds = 3;
/// Each byte: numbers of f32 near 0.01, of f16 near 1, and none that is special.
constexpr unsigned char anyByte = 0x3c;

DeviceMemory filledMemory(const Context &context, uint64_t bytes) {
  DeviceMemory memory(context, bytes, "measuring an algorithm of a library");
  if (bytes)
    context.driver.check(
        context.driver.cuMemsetD8Async(memory.address(), anyByte, bytes, context.stream), doing);
  return memory;
}

/// Of the shortest round, the first of all not counted.
double secondsOf(const Context &context, const std::function<void()> &work) {
  Event begin(context, CU_EVENT_DEFAULT), end(context, CU_EVENT_DEFAULT);
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round <= rounds; ++round) {
    begin.record(context.stream, doing);
    work();
    end.record(context.stream, doing);
    end.wait(doing);
    if (round > 0)
      least = std::min(least, begin.secondsTo(end, doing));
  }
  return least;
}

} // namespace

bool isTuningOn() { return environmentFlag("ACCC_CUDA_TUNE", false); }

size_t findFastest(const Context &context, size_t count, std::span<const uint64_t> bufferBytes,
                   uint64_t scratchBytes,
                   const std::function<void(size_t, std::span<const CUdeviceptr> buffers,
                                            CUdeviceptr scratch)> &start) {
  std::vector<DeviceMemory> memory;
  std::vector<CUdeviceptr> buffers;
  for (uint64_t bytes : bufferBytes) {
    memory.push_back(filledMemory(context, bytes));
    buffers.push_back(memory.back().address());
  }
  DeviceMemory scratch = filledMemory(context, scratchBytes);
  size_t best = 0;
  double bestSeconds = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < count; ++i) {
    try {
      double seconds = secondsOf(context, [&] { start(i, buffers, scratch.address()); });
      if (seconds < 0.9 * bestSeconds)
        best = i, bestSeconds = seconds;
    } catch (const Error &) {
      // The first is what is taken without measuring: what is wrong with it shows in the first
      // step.
    }
  }
  return best;
}

} // namespace accc::detail
