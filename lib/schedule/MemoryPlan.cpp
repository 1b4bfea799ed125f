// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/MemoryPlan.h"

#include <algorithm>
#include <numeric>

int64_t accc::planMemory(std::vector<Lifetime> &buffers, int64_t alignment, int64_t base) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return buffers[a].size != buffers[b].size ? buffers[a].size > buffers[b].size : a < b;
  });
  std::vector<size_t> placed; // by offset
  int64_t end = base;
  for (size_t i : order) {
    Lifetime &buffer = buffers[i];
    int64_t offset = base;
    for (size_t j : placed) {
      const Lifetime &other = buffers[j];
      if (other.last < buffer.first || buffer.last < other.first)
        continue;
      if (offset + buffer.size <= other.offset)
        break; // fits in the gap before it
      int64_t after = other.offset + other.size;
      offset = std::max(offset, (after + alignment - 1) / alignment * alignment);
    }
    buffer.offset = offset;
    end = std::max(end, offset + buffer.size);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) { return buffers[a].offset < buffers[b].offset; }),
                  i);
  }
  return (end + alignment - 1) / alignment * alignment;
}
