// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/memory/MemoryPlan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

using namespace accc;

/// Most plans are as small as can be at once; of the others few get smaller later than this.
static constexpr size_t kAttempts = 16;
/// An attempt looks at each pair of buffers: of many buffers there are fewer attempts, and of more
/// than that none.
static constexpr size_t kPairs = 1 << 26;
static constexpr size_t kMostBuffers = 1 << 15;

/// The most bytes that are live at one step: no plan needs fewer.
static int64_t mostLive(const std::vector<Lifetime> &buffers) {
  std::map<int64_t, int64_t> change; // by step
  for (const Lifetime &buffer : buffers) {
    change[buffer.first] += buffer.size;
    change[buffer.last + 1] -= buffer.size;
  }
  int64_t live = 0, most = 0;
  for (auto [step, bytes] : change)
    most = std::max(most, live += bytes);
  return most;
}

namespace {
/// A buffer that has its offset.
struct Placed {
  int64_t offset, end, first, last;
};
} // namespace

/// Each in turn at the lowest gap that fits. Returns the buffer that ends highest.
static size_t place(std::vector<Lifetime> &buffers, const std::vector<size_t> &order,
                    int64_t alignment, int64_t base) {
  std::vector<Placed> placed; // by offset
  placed.reserve(order.size());
  size_t top = order.front();
  int64_t highest = 0;
  for (size_t i : order) {
    Lifetime &buffer = buffers[i];
    int64_t offset = base;
    for (const Placed &other : placed) {
      if (other.last < buffer.first || buffer.last < other.first)
        continue;
      if (offset + buffer.size <= other.offset)
        break; // fits in the gap before it
      offset = std::max(offset, (other.end + alignment - 1) / alignment * alignment);
    }
    buffer.offset = offset;
    Placed here{offset, offset + buffer.size, buffer.first, buffer.last};
    if (here.end > highest) {
      highest = here.end;
      top = i;
    }
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), here,
                         [](const Placed &a, const Placed &b) { return a.offset < b.offset; }),
        here);
  }
  return top;
}

namespace {
/// Memory as a program that allocates and frees would use it: the smallest gap that fits, or more.
class Heap {
public:
  explicit Heap(int64_t start) : start(start), top(start) {}

  int64_t allocate(int64_t size) {
    auto fit = bySize.lower_bound({size, 0});
    if (fit == bySize.end()) {
      int64_t offset = top;
      if (!gaps.empty() && gaps.rbegin()->second == top) {
        offset = gaps.rbegin()->first;
        removeGap(std::prev(gaps.end()));
      }
      top = offset + size;
      return offset;
    }
    int64_t offset = fit->second, end = offset + fit->first;
    removeGap(gaps.find(offset));
    if (offset + size < end)
      addGap(offset + size, end);
    return offset;
  }

  void free(int64_t offset, int64_t size) {
    int64_t end = offset + size;
    auto next = gaps.lower_bound(offset);
    if (next != gaps.end() && next->first == end) {
      end = next->second;
      next = removeGap(next);
    }
    if (next != gaps.begin() && std::prev(next)->second == offset) {
      offset = std::prev(next)->first;
      removeGap(std::prev(next));
    }
    addGap(offset, end);
  }

  const int64_t start;
  int64_t top; // nothing has been allocated from there on

private:
  using Gaps = std::map<int64_t, int64_t>;
  void addGap(int64_t offset, int64_t end) {
    gaps[offset] = end;
    bySize.insert({end - offset, offset});
  }
  Gaps::iterator removeGap(Gaps::iterator gap) {
    bySize.erase({gap->second - gap->first, gap->first});
    return gaps.erase(gap);
  }

  Gaps gaps; // offset to end
  std::set<std::pair<int64_t, int64_t>> bySize;
};
} // namespace

/// All in the order of their first steps, in little more than linear time. Returns where they end.
static int64_t placeInTime(std::vector<Lifetime> &buffers, int64_t alignment, int64_t base) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(buffers[a].first, -buffers[a].size, a) <
           std::tuple(buffers[b].first, -buffers[b].size, b);
  });
  auto aligned = [&](int64_t size) { return (size + alignment - 1) / alignment * alignment; };
  Heap heap(aligned(base));
  std::multimap<int64_t, size_t> live; // by last step
  for (size_t i : order) {
    if (buffers[i].size == 0) {
      buffers[i].offset = heap.start;
      continue;
    }
    while (!live.empty() && live.begin()->first < buffers[i].first) {
      const Lifetime &dead = buffers[live.begin()->second];
      heap.free(dead.offset, aligned(dead.size));
      live.erase(live.begin());
    }
    buffers[i].offset = heap.allocate(aligned(buffers[i].size));
    live.emplace(buffers[i].last, i);
  }
  return heap.top;
}

int64_t accc::planMemory(std::vector<Lifetime> &buffers, int64_t alignment, int64_t base,
                         int64_t enough) {
  auto aligned = [&](int64_t end) { return (end + alignment - 1) / alignment * alignment; };
  if (buffers.empty())
    return aligned(base);
  if (buffers.size() > kMostBuffers)
    return placeInTime(buffers, alignment, base);
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return buffers[a].size != buffers[b].size ? buffers[a].size > buffers[b].size : a < b;
  });
  int64_t fewest = base + mostLive(buffers), best = 0;
  std::vector<Lifetime> plan;
  size_t attempts = std::clamp<size_t>(kPairs / (buffers.size() * buffers.size()), 1, kAttempts);
  for (size_t attempt = 0; attempt < attempts; ++attempt) {
    size_t top = place(buffers, order, alignment, base);
    int64_t end = buffers[top].offset + buffers[top].size;
    if (plan.empty() || end < best) {
      plan = buffers;
      best = end;
    }
    if (best < fewest + alignment || aligned(best) <= enough)
      break;
    auto it = std::find(order.begin(), order.end(), top);
    std::rotate(order.begin(), it, it + 1);
  }
  buffers = std::move(plan);
  return aligned(best);
}
