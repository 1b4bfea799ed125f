// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block's warps in turn, and its barriers.
#include "reference/ptx/Warp.h"

#include <algorithm>
#include <random>

namespace accc::ptx {

namespace {

void complete(Block &block, unsigned number) {
  Block::Waiting &waiting = block.barriers[number];
  // Results first: they are the same for all.
  for (Warp &warp : block.warps)
    for (Group &group : warp.groups) {
      if (group.state != Group::WaitsForBlock)
        continue;
      const Instruction &in = block.launch.program.code[group.pc];
      const Barrier &barrier = block.launch.program.barriers[in.target];
      if (*warp.at<uint32_t>(barrier.number) != number)
        continue;
      for (uint32_t lanes = group.mask; lanes && barrier.reduction; lanes &= lanes - 1) {
        unsigned lane = unsigned(std::countr_zero(lanes));
        if (barrier.reduction == Barrier::Count) {
          warp.at<uint32_t>(barrier.result)[lane] = waiting.satisfied;
          continue;
        }
        bool holds = barrier.reduction == Barrier::And ? waiting.satisfied == waiting.arrived
                                                       : waiting.satisfied != 0;
        uint32_t &result = warp.predicate(barrier.result);
        result = (result & ~(1u << lane)) | uint32_t(holds) << lane;
      }
      ++group.pc;
      group.state = Group::Ready;
    }
  ++block.launch.counts.barriers;
  std::ranges::sort(waiting.warps);
  auto repeated = std::ranges::unique(waiting.warps);
  waiting.warps.erase(repeated.begin(), repeated.end());
  if (!waiting.expected || waiting.warps.size() == block.warps.size())
    block.ordering.wholeBlock();
  else
    block.ordering.someWarps(waiting.warps);
  waiting = {};
}

bool isComplete(const Block &block, const Block::Waiting &waiting) {
  return waiting.arrived && waiting.arrived >= (waiting.expected ? waiting.expected : block.live);
}

} // namespace

bool arrive(Warp &warp, Group &group, const Instruction &in, uint32_t mask) {
  Block &block = *warp.block;
  const Barrier &barrier = block.launch.program.barriers[in.target];
  unsigned lane = unsigned(std::countr_zero(mask));
  uint32_t number = warp.at<uint32_t>(barrier.number)[lane];
  if (number >= block.barriers.size())
    throw Fault{ErrorKind::OutOfBounds, lane, "there is no barrier " + std::to_string(number)};
  Block::Waiting &waiting = block.barriers[number];
  uint32_t expected = barrier.counted ? warp.at<uint32_t>(barrier.count)[lane] : 0;
  if (barrier.counted && (expected == 0 || expected % warpSize))
    throw Fault{ErrorKind::Divergence, lane,
                "the number of threads, " + std::to_string(expected) + ", is no multiple of 32"};
  if (waiting.arrived && waiting.expected != expected)
    throw Fault{ErrorKind::Divergence, lane,
                "threads give different numbers of threads for barrier " + std::to_string(number)};
  waiting.expected = expected;
  // A whole warp arrives as 32 threads where threads are counted.
  waiting.arrived += barrier.counted && barrier.aligned ? warpSize : unsigned(std::popcount(mask));
  waiting.warps.push_back(warp.number);
  if (barrier.reduction) {
    uint32_t holds = warp.predicate(barrier.predicate);
    waiting.satisfied += unsigned(std::popcount((barrier.negated ? ~holds : holds) & mask));
  }
  if (!barrier.waits) {
    ++group.pc;
    if (isComplete(block, waiting))
      complete(block, number);
    return true;
  }
  if (!isComplete(block, waiting)) {
    group.state = Group::WaitsForBlock;
    return false;
  }
  // The last one: it waits with the others, for an instant.
  group.state = Group::WaitsForBlock;
  warp.groups.push_back(group);
  complete(block, number);
  group = warp.groups.back();
  warp.groups.pop_back();
  return true;
}

void completeBarriers(Block &block) {
  for (unsigned number = 0; number < block.barriers.size(); ++number)
    if (isComplete(block, block.barriers[number]))
      complete(block, number);
}

void failStuck(Block &block) {
  const auto &origins = block.launch.program.origins;
  auto line = [&](const Group &group) { return std::to_string(origins[group.pc].line); };
  // Lanes that wait for lanes of their warp first: these explain barriers that others wait at.
  for (Warp &warp : block.warps)
    for (const Group &group : warp.groups) {
      if (group.state != Group::WaitsForLanes)
        continue;
      block.running = &warp;
      warp.pc = group.pc;
      uint32_t missing = group.needed & warp.live & ~group.mask;
      std::string others;
      for (const Group &other : warp.groups)
        if (other.mask & missing)
          others += (others.empty() ? "" : ", ") +
                    std::to_string(std::countr_zero(other.mask & missing)) + " at line " +
                    line(other);
      throw Fault{ErrorKind::Divergence, unsigned(std::countr_zero(group.mask)),
                  "lanes of the warp never reach it together: it waits for lane " + others};
    }
  Warp *first = nullptr;
  const Group *waits = nullptr;
  for (Warp &warp : block.warps)
    for (const Group &group : warp.groups) {
      if (!first) {
        first = &warp;
        waits = &group;
      } else if (group.pc != waits->pc) {
        block.running = first;
        first->pc = waits->pc;
        throw Fault{ErrorKind::Deadlock, unsigned(std::countr_zero(waits->mask)),
                    "it waits for threads that wait at another barrier, in line " + line(group) +
                        " (thread " +
                        std::to_string(warp.thread(unsigned(std::countr_zero(group.mask)))) + ")"};
      }
    }
  block.running = first;
  first->pc = waits->pc;
  throw Fault{ErrorKind::Deadlock, unsigned(std::countr_zero(waits->mask)),
              "it waits for more threads than come"};
}

void runBlock(Block &block) {
  std::mt19937_64 random(block.launch.options.orderSeed.value_or(0) ^ block.number);
  std::vector<Warp *> turns;
  for (Warp &warp : block.warps)
    turns.push_back(&warp);
  while (block.live) {
    if (block.launch.options.orderSeed)
      std::ranges::shuffle(turns, random);
    bool any = false;
    for (Warp *warp : turns) {
      block.running = warp;
      any |= runWarp(*warp);
    }
    if (!any)
      failStuck(block);
  }
}

} // namespace accc::ptx
