// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StepOrder.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

namespace accc::detail {

namespace {

/// What is known of each byte of one memory: who wrote it last, and who has read that.
class Memory {
public:
  /// Adds to `found` what `step` has to wait for when it accesses [begin, end), and takes note.
  void access(uint64_t begin, uint64_t end, size_t step, bool writes, std::vector<size_t> &found) {
    if (begin >= end)
      return;
    split(begin);
    split(end);
    uint64_t at = begin;
    for (auto it = ranges.lower_bound(begin); at < end; ++it) {
      if (it == ranges.end() || it->first > at) // nobody was here yet
        it = ranges.emplace(at, Range{it == ranges.end() ? end : std::min(end, it->first), {}, {}})
                 .first;
      Range &range = it->second;
      if (range.writer)
        found.push_back(*range.writer);
      if (writes)
        found.insert(found.end(), range.readers.begin(), range.readers.end());
      else if (range.readers.empty() || range.readers.back() != step)
        range.readers.push_back(step);
      at = range.end;
    }
    if (writes) {
      ranges.erase(ranges.lower_bound(begin), ranges.lower_bound(end));
      ranges.emplace(begin, Range{end, step, {}});
    }
  }

private:
  struct Range {
    uint64_t end;
    std::optional<size_t> writer;
    std::vector<size_t> readers; // since then
  };

  /// Makes a range that reaches over `at` two.
  void split(uint64_t at) {
    auto it = ranges.lower_bound(at);
    if (it == ranges.begin())
      return;
    Range &before = std::prev(it)->second;
    if (before.end <= at)
      return;
    Range behind = before;
    before.end = at;
    ranges.emplace_hint(it, at, std::move(behind));
  }

  std::map<uint64_t, Range> ranges; // by where they begin; they do not overlap
};

/// Sets of steps, one for each step: itself and all that it waits for.
class Ancestors {
public:
  explicit Ancestors(size_t steps) : words((steps + 63) / 64), bits(words * steps) {}

  bool contains(size_t step, size_t other) const {
    return bits[step * words + other / 64] >> (other % 64) & 1;
  }
  void add(size_t step, size_t other) {
    for (size_t i = 0; i < words; ++i)
      bits[step * words + i] |= bits[other * words + i];
  }
  void addItself(size_t step) { bits[step * words + step / 64] |= uint64_t(1) << (step % 64); }

private:
  size_t words;
  std::vector<uint64_t> bits;
};

/// Ancestors take the square of this in bits: 32 MiB. Longer entry points stay in order.
constexpr size_t mostSteps = 1 << 14;

/// Among the numbers of memories: what collectives work on beside their buffers.
constexpr int theOthers = ACCC_STATUS + 1;

} // namespace

std::vector<std::vector<size_t>> stepsToWaitFor(const accc_entry &entry,
                                                std::span<const int> scratch) {
  auto count = static_cast<size_t>(entry.num_steps);
  std::vector<std::vector<size_t>> result(count);
  std::map<int, Memory> memories; // by accc_space, blocks of scratch by negative numbers
  Ancestors ancestors(count <= mostSteps ? count : 0);
  size_t barrier = 0; // all from here on wait for the step before it, if any
  for (size_t i = 0; i < count; ++i) {
    const accc_step &step = entry.steps[i];
    bool ordered = step.kind == ACCC_STEP_CHECK || step.kind == ACCC_STEP_CUSTOM_CALL ||
                   step.kind == ACCC_STEP_AGREE;
    if (count > mostSteps) {
      if (i)
        result[i] = {i - 1};
      continue;
    }
    std::vector<size_t> found;
    if (barrier)
      found.push_back(barrier - 1);
    if (ordered)
      for (size_t before = barrier; before < i; ++before)
        found.push_back(before);
    for (const accc_buffer &buffer :
         std::span(entry.buffers + step.first_buffer, static_cast<size_t>(step.num_buffers))) {
      if (buffer.space == ACCC_STATUS)
        continue;
      // The offset of an input or an output is its number.
      bool isNumbered = buffer.space == ACCC_INPUT || buffer.space == ACCC_OUTPUT;
      memories[buffer.space].access(buffer.offset, buffer.offset + (isNumbered ? 1 : buffer.bytes),
                                    i, buffer.access & ACCC_WRITE, found);
    }
    if (scratch[i] >= 0)
      memories[-1 - scratch[i]].access(0, 1, i, /*writes=*/true, found);
    if (step.kind == ACCC_STEP_COLLECTIVE)
      memories[theOthers].access(0, 1, i, /*writes=*/true, found);
    // The latest first: what it waits for is left out behind it.
    std::sort(found.rbegin(), found.rend());
    for (size_t before : found)
      if (before != i && !ancestors.contains(i, before)) {
        result[i].push_back(before);
        ancestors.add(i, before);
      }
    ancestors.addItself(i);
    std::reverse(result[i].begin(), result[i].end());
    if (ordered)
      barrier = i + 1;
  }
  return result;
}

std::vector<std::vector<size_t>> stepsBesideCollectives(const accc_entry &entry) {
  auto result =
      stepsToWaitFor(entry, std::vector<int>(static_cast<size_t>(entry.num_steps), /*none=*/-1));
  auto isCollective = [&](size_t step) { return entry.steps[step].kind == ACCC_STEP_COLLECTIVE; };
  std::optional<size_t> last; // that is none
  for (size_t i = 0; i < result.size(); ++i) {
    if (isCollective(i))
      continue;
    std::erase_if(result[i], [&](size_t before) { return !isCollective(before); });
    if (last)
      result[i].insert(std::upper_bound(result[i].begin(), result[i].end(), *last), *last);
    last = i;
  }
  return result;
}

} // namespace accc::detail
