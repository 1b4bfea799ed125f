// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/ptx/Ordering.h"
#include "reference/ptx/Warp.h"

#include <algorithm>
#include <set>

namespace accc::ptx {

void Ordering::start(uint32_t number, uint32_t warps, uint32_t before) {
  block = number;
  blocksBefore = before;
  floor = last = 1;
  clocks.assign(warps, 1);
  seen.assign(warps, std::vector<uint32_t>(warps, 1));
  acquired.clear();
  threads.clear();
}

uint32_t Ordering::advance() {
  if (++last >> Stamp::clockBits)
    throw Fault{ErrorKind::StepLimit, 0,
                "a block passed more barriers than the race checks can count"};
  return last;
}

void Ordering::wholeBlock() {
  floor = advance();
  std::ranges::fill(clocks, floor);
  for (auto &row : seen)
    std::ranges::fill(row, floor);
}

void Ordering::someWarps(const std::vector<uint32_t> &warps) {
  uint32_t clock = advance();
  for (uint32_t warp : warps)
    for (uint32_t other : warps)
      for (size_t i = 0; i < seen.size(); ++i)
        seen[warp][i] = std::max(seen[warp][i], seen[other][i]);
  for (uint32_t warp : warps) {
    clocks[warp] = clock;
    for (uint32_t other : warps)
      seen[other][warp] = clock;
  }
}

void Ordering::oneWarp(uint32_t warp) {
  if (clocks.size() == 1)
    return wholeBlock();
  clocks[warp] = seen[warp][warp] = advance();
}

bool Ordering::directlyBefore(Stamp earlier, Stamp me) const {
  if (earlier.block() != block)
    return false;
  if (earlier.thread() == me.thread())
    return true;
  return earlier.clock() < seen[me.warp()][earlier.warp()];
}

namespace {

bool covers(const Release &release, Stamp stamp) {
  if (stamp.block() == release.block &&
      (stamp.clock() < release.seen[stamp.warp()] ||
       (stamp.thread() == release.thread && stamp.clock() <= release.clock)))
    return true;
  return std::ranges::any_of(release.before, [&](const auto &r) { return covers(*r, stamp); });
}

void collectBlocks(const Release &release, std::set<uint32_t> &blocks) {
  blocks.insert(release.block);
  for (const auto &before : release.before)
    collectBlocks(*before, blocks);
}

} // namespace

bool Ordering::acquiredBefore(Stamp earlier, Stamp me) const {
  return std::ranges::any_of(acquired, [&](const Acquired &entry) {
    return directlyBefore(entry.by, me) && covers(*entry.release, earlier);
  });
}

bool Ordering::settledSlow(Stamp earlier, Stamp me) const {
  if (earlier.has(Stamp::manyBlocks)) {
    // Which blocks is not known: all that have run must be acquired.
    std::set<uint32_t> blocks;
    for (const Acquired &entry : acquired)
      if (directlyBefore(entry.by, me))
        collectBlocks(*entry.release, blocks);
    blocks.erase(block);
    if (blocks.size() < blocksBefore)
      return false;
  }
  if (earlier.block() != block)
    return acquiredBefore(earlier, me);
  if (earlier.clock() < floor)
    return true;
  if (earlier.has(Stamp::manyWarps))
    return false;
  bool sameTime = earlier.clock() == clocks[me.warp()] && earlier.warp() == me.warp();
  if (earlier.has(Stamp::manyThreads) && sameTime)
    return false;
  return directlyBefore(earlier, me) || acquiredBefore(earlier, me);
}

Stamp Ordering::joinSlow(Stamp earlier, Stamp me) const {
  Stamp result{me.bits | (earlier.bits & (Stamp::nonCoherent | Stamp::manyBlocks))};
  if (earlier.block() != block) {
    result.bits |= Stamp::manyBlocks;
    return result;
  }
  if (earlier.clock() < floor)
    return result;
  result.bits |= earlier.bits & Stamp::manyWarps;
  if (earlier.warp() != me.warp()) {
    if (earlier.has(Stamp::manyThreads) || !directlyBefore(earlier, me))
      result.bits |= Stamp::manyWarps;
  } else if (earlier.clock() == me.clock()) {
    result.bits |= earlier.bits & Stamp::manyThreads;
    if (earlier.thread() != me.thread())
      result.bits |= Stamp::manyThreads;
  }
  return result;
}

void Ordering::fence(uint32_t thread) {
  Stamp me = now(thread / 32, thread % 32);
  Thread &state = threads[thread];
  for (ReleasePtr &release : state.pending)
    acquired.push_back({std::move(release), me});
  state.pending.clear();
  auto release = std::make_shared<Release>();
  release->block = block;
  release->thread = thread;
  release->clock = me.clock();
  release->seen = seen[me.warp()];
  for (const Acquired &entry : acquired)
    if (directlyBefore(entry.by, me))
      release->before.push_back(entry.release);
  state.fenced = std::move(release);
}

void Ordering::strongWrite(uint32_t thread, Releases &releases, uint64_t address) {
  auto found = threads.find(thread);
  if (found == threads.end() || !found->second.fenced)
    return;
  auto &list = releases[address];
  if (list.empty() || list.back() != found->second.fenced)
    list.push_back(found->second.fenced);
}

void Ordering::strongRead(uint32_t thread, const Releases &releases, uint64_t address) {
  auto found = releases.find(address);
  if (found == releases.end())
    return;
  auto &pending = threads[thread].pending;
  pending.insert(pending.end(), found->second.begin(), found->second.end());
}

} // namespace accc::ptx
