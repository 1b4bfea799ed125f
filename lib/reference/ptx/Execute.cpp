// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop that runs a warp: control flow, divergence, waiting.
//
// Lanes at the same instruction are a group. The deepest call goes first, then the least program
// counter, so that lanes which left a branch wait for the others behind it; equal groups become
// one. That is an order only: what must meet (shfl.sync, bar.sync) waits for its lanes whatever the
// order.
#include "reference/ptx/Warp.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace accc::ptx {

namespace {

/// Instructions that a warp runs before another one's turn, so that one may wait for the other's
/// stores.
constexpr unsigned turn = 1 << 14;

bool isReady(const Warp &warp, const Group &group) {
  if (group.state == Group::WaitsForLanes)
    return (group.needed & warp.live & ~group.mask) == 0;
  return group.state == Group::Ready;
}

/// Merges groups at the same place, and gives the one to run; null where all wait.
Group *pick(Warp &warp) {
  auto &groups = warp.groups;
  Group *best = nullptr;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].state == Group::WaitsForBlock)
      continue;
    for (size_t j = i + 1; j < groups.size();) {
      if (groups[j].pc != groups[i].pc || groups[j].depth != groups[i].depth ||
          groups[j].state == Group::WaitsForBlock) {
        ++j;
        continue;
      }
      groups[i].mask |= groups[j].mask;
      groups[i].needed |= groups[j].needed;
      if (groups[j].state == Group::Ready)
        groups[i].state = Group::Ready;
      groups.erase(groups.begin() + j);
    }
  }
  for (Group &group : groups)
    if (isReady(warp, group) &&
        (!best || group.depth > best->depth || (group.depth == best->depth && group.pc < best->pc)))
      best = &group;
  return best;
}

class Runner {
public:
  explicit Runner(Warp &warp)
      : warp(warp), launch(warp.block->launch), code(launch.program.code.data()) {}

  bool run() {
    bool any = false;
    while (left > 0) {
      Group *group = pick(warp);
      if (!group)
        break;
      any = true;
      current = *group;
      current.state = Group::Ready;
      warp.groups.erase(warp.groups.begin() + (group - warp.groups.data()));
      // Groups at a later place wait there for this one.
      stop = ~0u;
      for (const Group &other : warp.groups)
        if (other.state != Group::WaitsForBlock && other.depth == current.depth &&
            other.pc > current.pc)
          stop = std::min(stop, other.pc);
      runGroup();
      if (current.mask)
        warp.groups.push_back(current);
    }
    return any;
  }

private:
  /// Until the group splits, waits, ends, or meets another.
  void runGroup() {
    while (left > 0) {
      const Instruction &in = code[current.pc];
      --left;
      if (++launch.steps > launch.options.stepLimit)
        throw Fault{ErrorKind::StepLimit, unsigned(std::countr_zero(current.mask)),
                    "the launch issued more than " + std::to_string(launch.options.stepLimit) +
                        " instructions: an endless loop, or blocks that wait for each other?"};
      warp.pc = current.pc;
      uint32_t mask = current.mask;
      if (in.guard) {
        uint32_t holds = warp.predicate(in.guard);
        mask &= in.guardNegated ? ~holds : holds;
      }
      bool goesOn = true;
      if (in.flow == Flow::Plain) {
        count(in, mask);
        if (mask)
          in.handler(warp, in, mask);
        ++current.pc;
      } else {
        goesOn = control(in, mask);
      }
      if (!goesOn || current.pc >= stop)
        return;
    }
  }

  void count(const Instruction &in, uint32_t mask) {
    ++launch.counts.issued[unsigned(in.counted)];
    launch.counts.laneInstructions += unsigned(std::popcount(mask));
  }

  /// False where another group must be picked.
  bool control(const Instruction &in, uint32_t mask) {
    switch (in.flow) {
    case Flow::Branch:
      count(in, mask);
      return branch(in, mask);
    case Flow::BranchIndexed:
      count(in, mask);
      return branchIndexed(in, mask);
    case Flow::Call:
      count(in, mask);
      return call(in, mask);
    case Flow::Return:
      count(in, mask);
      return leave(mask);
    case Flow::Exit:
      count(in, mask);
      return exit(mask);
    case Flow::WarpSync:
      return warpSync(in, mask);
    case Flow::BlockBarrier:
      return barrier(in, mask);
    case Flow::Trap:
      if (mask)
        throw Fault{ErrorKind::Trap, unsigned(std::countr_zero(mask)), "the kernel trapped"};
      ++current.pc;
      return true;
    case Flow::Plain:
      break;
    }
    return true;
  }

  /// The lanes of `mask` go elsewhere; the group goes on with the others.
  void split(uint32_t mask, uint32_t pc, uint32_t depth) {
    Group other;
    other.pc = pc;
    other.mask = mask;
    other.depth = depth;
    warp.groups.push_back(other);
    current.mask &= ~mask;
  }

  bool branch(const Instruction &in, uint32_t mask) {
    if (mask == current.mask) {
      current.pc = in.target;
      return true;
    }
    ++current.pc;
    if (mask == 0)
      return true;
    ++launch.counts.divergentBranches;
    split(mask, in.target, current.depth);
    return false;
  }

  bool branchIndexed(const Instruction &in, uint32_t mask) {
    const uint32_t *table = launch.program.targets.data() + in.target;
    const uint32_t *index = warp.at<uint32_t>(in.a);
    ++current.pc;
    uint32_t before = current.mask;
    for (uint32_t rest = mask; rest;) {
      unsigned lane = unsigned(std::countr_zero(rest));
      if (index[lane] >= table[0])
        throw Fault{ErrorKind::OutOfBounds, lane,
                    "index " + std::to_string(index[lane]) + " of an indexed branch with " +
                        std::to_string(table[0]) + " targets"};
      uint32_t same = 0;
      for (uint32_t lanes = rest; lanes; lanes &= lanes - 1)
        if (unsigned other = unsigned(std::countr_zero(lanes)); index[other] == index[lane])
          same |= 1u << other;
      rest &= ~same;
      if (same == before) {
        current.pc = table[1 + index[lane]];
        return true;
      }
      split(same, table[1 + index[lane]], current.depth);
    }
    launch.counts.divergentBranches += mask != 0;
    return false;
  }

  static void move(std::byte *arena, uint32_t stride, uint32_t mask,
                   const std::vector<Call::Move> &moves) {
    for (const Call::Move &move : moves)
      for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
        std::byte *own = arena + size_t(std::countr_zero(lanes)) * stride;
        std::memcpy(own + move.to, own + move.from, move.bytes);
      }
  }

  bool call(const Instruction &in, uint32_t mask) {
    uint32_t pc = current.pc++;
    if (mask == 0)
      return true;
    const Call &call = launch.program.calls[in.target];
    const Function &callee = launch.program.functions[call.function];
    move(warp.arena, launch.function.arenaBytes, mask, call.arguments);
    for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
      unsigned lane = unsigned(std::countr_zero(lanes));
      warp.returns[lane].push_back(pc);
      for (const Function::Local &local : callee.locals)
        std::fill_n(warp.block->localState.begin() +
                        size_t(warp.thread(lane)) * warp.block->localBytes + local.offset,
                    local.bytes, ByteState::Unwritten);
    }
    split(mask, callee.first, current.depth + 1);
    return false;
  }

  /// `ret`: of a kernel, the threads exit.
  bool leave(uint32_t mask) {
    if (current.depth == 0)
      return exit(mask);
    ++current.pc;
    if (mask == 0)
      return true;
    for (uint32_t rest = mask; rest;) {
      uint32_t pc = warp.returns[unsigned(std::countr_zero(rest))].back(), same = 0;
      for (uint32_t lanes = rest; lanes; lanes &= lanes - 1)
        if (unsigned lane = unsigned(std::countr_zero(lanes)); warp.returns[lane].back() == pc) {
          warp.returns[lane].pop_back();
          same |= 1u << lane;
        }
      move(warp.arena, launch.function.arenaBytes, same,
           launch.program.calls[code[pc].target].results);
      split(same, pc + 1, current.depth - 1);
      rest &= ~same;
    }
    return false;
  }

  bool exit(uint32_t mask) {
    ++current.pc;
    if (mask == 0)
      return true;
    warp.live &= ~mask;
    warp.block->live -= unsigned(std::popcount(mask));
    current.mask &= ~mask;
    completeBarriers(*warp.block);
    return false;
  }

  void waitForLanes(uint32_t needed) {
    current.state = Group::WaitsForLanes;
    current.needed = needed;
  }

  bool warpSync(const Instruction &in, uint32_t mask) {
    if (mask == 0) {
      count(in, mask);
      ++current.pc;
      return true;
    }
    const uint32_t *masks = warp.at<uint32_t>(in.d);
    uint32_t needed = 0;
    for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
      unsigned lane = unsigned(std::countr_zero(lanes));
      if (!(masks[lane] >> lane & 1))
        throw Fault{ErrorKind::Divergence, lane,
                    "the mask does not name the lane " + std::to_string(lane) +
                        ", which executes it"};
      needed |= masks[lane];
    }
    if (uint32_t missing = needed & warp.live & ~mask) {
      // Lanes that are here but whose guard does not hold will never take part.
      if (missing & current.mask)
        throw Fault{ErrorKind::Divergence, unsigned(std::countr_zero(missing & current.mask)),
                    "the mask names the lane " +
                        std::to_string(std::countr_zero(missing & current.mask)) +
                        ", whose guard does not hold"};
      waitForLanes(needed);
      return false;
    }
    count(in, mask);
    in.handler(warp, in, mask);
    ++current.pc;
    return true;
  }

  bool barrier(const Instruction &in, uint32_t mask) {
    const Barrier &barrier = launch.program.barriers[in.target];
    if (mask == 0) {
      count(in, mask);
      ++current.pc;
      return true;
    }
    if (barrier.aligned)
      if (uint32_t missing = warp.live & ~mask) {
        if (missing & current.mask)
          throw Fault{ErrorKind::Divergence, unsigned(std::countr_zero(missing & current.mask)),
                      "its guard does not hold for the lane " +
                          std::to_string(std::countr_zero(missing & current.mask)) +
                          ", but for others of the warp"};
        waitForLanes(~0u);
        return false;
      }
    count(in, mask);
    if (mask != current.mask) // an unaligned barrier under a guard
      split(current.mask & ~mask, current.pc + 1, current.depth);
    return arrive(warp, current, in, mask);
  }

  Warp &warp;
  LaunchState &launch;
  const Instruction *code;
  Group current;
  uint32_t stop = ~0u;
  unsigned left = turn;
};

} // namespace

bool runWarp(Warp &warp) { return Runner(warp).run(); }

} // namespace accc::ptx
