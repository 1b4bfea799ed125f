// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch while it runs: what handlers of instructions see.
#ifndef ACCC_REFERENCE_PTX_WARP_H
#define ACCC_REFERENCE_PTX_WARP_H

#include "reference/ptx/Ordering.h"
#include "reference/ptx/Program.h"

#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace accc::ptx {

struct Block;

/// What a running kernel did wrong; launch() catches it and adds where.
struct Fault {
  ErrorKind kind;
  unsigned lane;
  std::string message;
};

/// Lanes of a warp that are at the same instruction.
struct Group {
  uint32_t pc = 0;
  uint32_t mask = 0;
  uint32_t depth = 0; ///< of calls
  enum State : uint8_t { Ready, WaitsForLanes, WaitsForBlock } state = Ready;
  uint32_t needed = 0; ///< WaitsForLanes: the lanes that must arrive, unless they exit
};

/// A cp.async that was issued, or the end of a group of them.
struct PendingCopy {
  bool endOfGroup = false;
  uint32_t pc = 0;
  uint64_t from = 0, to = 0; ///< generic
  uint32_t bytes = 0, read = 0;
};

struct Warp {
  std::byte *file = nullptr;  ///< registers; see Program.h
  std::byte *arena = nullptr; ///< .param variables of calls, for each lane
  Block *block = nullptr;
  uint32_t number = 0;
  uint32_t live = 0;  ///< lanes that exist and have not exited
  uint32_t carry = 0; ///< CC.CF
  uint32_t pc = 0;    ///< of the instruction that executes
  std::vector<Group> groups;
  std::array<std::vector<uint32_t>, warpSize> returns; ///< each lane's call instructions
  std::array<std::vector<PendingCopy>, warpSize> copies;

  template <class T> T *at(uint32_t slot) const { return reinterpret_cast<T *>(file + slot); }
  uint32_t &predicate(uint32_t slot) const { return *at<uint32_t>(slot); }
  uint32_t thread(unsigned lane) const { return number * warpSize + lane; }
};

/// What is the same for all blocks of a launch.
struct LaunchState {
  const Kernel &kernel;
  const Program &program;
  const Function &function;
  Memory &memory;
  Dim3 grid, blockSize;
  std::span<const std::byte> parameters;
  const LaunchOptions &options;
  uint32_t generation = 0;
  Counts counts = {};
  uint64_t steps = 0;
  std::vector<Allocation *> cache = {}; ///< of each access: what it hit last
  Releases releases = {};               ///< across blocks
};

/// State of each byte of shared and local memory.
enum class ByteState : uint8_t { Unwritten, Written, Outside };

/// One block while it runs.
struct Block {
  explicit Block(LaunchState &launch) : launch(launch) {}

  LaunchState &launch;
  uint32_t number = 0;
  Dim3 position;
  uint32_t threads = 0;
  uint32_t live = 0; ///< threads that have not exited
  std::vector<Warp> warps;
  Warp *running = nullptr; ///< the warp that a Fault is of
  std::vector<std::byte> shared;
  std::vector<ByteState> sharedState;
  Shadow sharedShadow;
  uint32_t sharedGeneration = 0;
  Releases sharedReleases;
  std::vector<std::byte> local; ///< of one thread after the other
  std::vector<ByteState> localState;
  uint32_t localBytes = 0; ///< of a thread
  Ordering ordering;
  struct Waiting {
    uint32_t arrived = 0;
    uint32_t expected = 0;       ///< 0: all
    uint32_t satisfied = 0;      ///< predicates that hold
    std::vector<uint32_t> warps; ///< that take part
  };
  std::array<Waiting, 16> barriers;
};

/// Runs the ready lanes of `warp` until all wait or have exited, or for a share of time. False
/// where none ran.
bool runWarp(Warp &warp);
/// Runs a block from its start to its end.
void runBlock(Block &block);

/// For barriers (Barriers.cpp): the group arrives; true where it goes on at once.
bool arrive(Warp &warp, Group &group, const Instruction &in, uint32_t mask);
/// After threads have exited: barriers that are complete now let theirs go on.
void completeBarriers(Block &block);
/// Throws the Fault that says what the threads of a stuck block wait for.
[[noreturn]] void failStuck(Block &block);

} // namespace accc::ptx

#endif
