// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DistinctCalls.h"

#include <algorithm>
#include <cstring>
#include <span>

std::vector<accc::tool::DistinctCall> accc::tool::distinctCalls(const accc_entry &entry) {
  std::vector<DistinctCall> calls;
  for (const accc_step &step : std::span(entry.steps, static_cast<size_t>(entry.num_steps))) {
    if (step.kind != ACCC_STEP_LIBRARY_CALL)
      continue;
    const accc_library_call &call = entry.library_calls[step.index];
    auto same = std::ranges::find_if(calls, [&](const DistinctCall &other) {
      return std::memcmp(other.call, &call, sizeof call) == 0;
    });
    if (same != calls.end()) {
      ++same->times;
      continue;
    }
    std::vector<uint64_t> bytes;
    for (int32_t i = 0; i < step.num_buffers; ++i)
      bytes.push_back(entry.buffers[step.first_buffer + i].bytes);
    calls.push_back({&call, bytes, 1});
  }
  return calls;
}
