// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/ptx/Launch.h"
#include "reference/ptx/Warp.h"
#include "reference/ptx/Windows.h"

#include <algorithm>
#include <random>

namespace accc::ptx {

const char *name(InstructionClass which) {
  static constexpr const char *names[] = {"integer",    "float",   "double", "half",   "special",
                                          "conversion", "load",    "store",  "shared", "atomic",
                                          "warp",       "barrier", "control"};
  return names[unsigned(which)];
}

uint64_t Counts::total() const {
  return std::accumulate(issued.begin(), issued.end(), uint64_t(0));
}

Counts &Counts::operator+=(const Counts &other) {
  for (unsigned i = 0; i < numInstructionClasses; ++i)
    issued[i] += other.issued[i];
  for (uint64_t Counts::*field :
       {&Counts::laneInstructions, &Counts::globalReadBytes, &Counts::globalWriteBytes,
        &Counts::globalReadSectors, &Counts::globalWriteSectors, &Counts::sharedReadBytes,
        &Counts::sharedWriteBytes, &Counts::localBytes, &Counts::sharedWavefronts,
        &Counts::sharedExtraWavefronts, &Counts::barriers, &Counts::divergentBranches,
        &Counts::blocks, &Counts::warps})
    this->*field += other.*field;
  return *this;
}

namespace {

std::string text(Dim3 d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

Dim3 positionOf(uint64_t index, Dim3 extent) {
  return {uint32_t(index % extent.x), uint32_t(index / extent.x % extent.y),
          uint32_t(index / extent.x / extent.y)};
}

/// Runs all blocks of a launch, one after the other, in the same registers.
class Launcher {
public:
  Launcher(LaunchState &launch, uint32_t dynamicShared) : launch(launch), block(launch) {
    block.threads = uint32_t(launch.blockSize.count());
    layOutShared(dynamicShared);
    layOutLocal();
    makeWarps(dynamicShared);
  }

  void run() {
    const uint64_t blocks = launch.grid.count();
    std::vector<uint32_t> order(std::min(blocks, launch.options.mostBlocks));
    for (uint64_t i = 0; i < order.size(); ++i)
      order[i] = uint32_t(i * (blocks - 1) / std::max<uint64_t>(order.size() - 1, 1));
    if (launch.options.orderSeed)
      std::ranges::shuffle(order, std::mt19937_64(*launch.options.orderSeed));
    uint32_t before = 0;
    for (uint32_t number : order) {
      start(number, before++);
      runBlock(block);
      ++launch.counts.blocks;
      launch.counts.warps += block.warps.size();
    }
  }

  Block &running() { return block; }

private:
  /// Variables lie as far apart from each other as they can without another bank of memory: 128
  /// bytes.
  void layOutShared(uint32_t dynamicShared) {
    const Program &program = launch.program;
    constexpr uint64_t apart = 128;
    uint64_t packed = 0, gaps = 0;
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    sharedAddresses.resize(program.shared.size());
    for (bool dynamic : {false, true}) {
      uint64_t end = packed;
      for (int variable : launch.function.shared) {
        const SharedVariable &v = program.shared[unsigned(variable)];
        if (v.dynamic != dynamic)
          continue;
        // All dynamic variables name the same bytes.
        packed = ((dynamic ? end : packed) + v.alignment - 1) / v.alignment * v.alignment;
        sharedAddresses[unsigned(variable)] = packed + gaps;
        ranges.emplace_back(packed + gaps, dynamic ? dynamicShared : v.bytes);
        packed += v.bytes;
        gaps += dynamic ? 0 : apart;
      }
    }
    uint64_t size = 0;
    for (auto [begin, bytes] : ranges)
      size = std::max(size, begin + bytes);
    outside.assign(size, ByteState::Outside);
    for (auto [begin, bytes] : ranges)
      std::fill_n(outside.begin() + long(begin), bytes, ByteState::Unwritten);
    block.shared.assign(size, std::byte(0xff));
  }

  void layOutLocal() {
    block.localBytes = launch.function.localEnd;
    for (const Function &function : launch.program.functions)
      if (!function.kernel)
        block.localBytes = std::max(block.localBytes, function.localEnd);
    localStates.assign(block.localBytes, ByteState::Outside);
    for (const Function &function : launch.program.functions)
      if (!function.kernel || &function == &launch.function)
        for (const Function::Local &local : function.locals)
          std::fill_n(localStates.begin() + local.offset, local.bytes, ByteState::Unwritten);
    block.local.assign(size_t(block.threads) * block.localBytes, std::byte(0xff));
  }

  void makeWarps(uint32_t dynamicShared) {
    const uint32_t count = (block.threads + warpSize - 1) / warpSize;
    const size_t frame = (launch.function.frameBytes + 63) / 64 * 64;
    const size_t arena = size_t(launch.function.arenaBytes) * warpSize;
    files.assign((frame * count + 63) / 64 + 1, {});
    arenas.assign(arena * count + 1, std::byte(0xff));
    block.warps.resize(count);
    for (uint32_t i = 0; i < count; ++i) {
      Warp &warp = block.warps[i];
      warp.block = &block;
      warp.number = i;
      warp.file = reinterpret_cast<std::byte *>(files.data()) + frame * i;
      warp.arena = arenas.data() + arena * i;
      setConstants(warp);
      setSpecials(warp, dynamicShared);
    }
  }

  static void broadcast(Warp &warp, uint32_t slot, unsigned bytes, uint64_t value) {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      std::copy_n(reinterpret_cast<const std::byte *>(&value), bytes,
                  warp.file + slot + lane * bytes);
  }

  void setConstants(Warp &warp) {
    for (const Function &function : launch.program.functions) {
      if (function.kernel && &function != &launch.function)
        continue;
      for (const Constant &constant : function.constants) {
        uint64_t value = constant.value;
        if (constant.variable >= 0)
          value += launch.program.variables[unsigned(constant.variable)].address;
        if (constant.shared >= 0)
          value += sharedAddresses[unsigned(constant.shared)];
        broadcast(warp, constant.slot, constant.bytes, value);
      }
    }
  }

  static void setSpecial(Warp &warp, Special special, uint32_t value) {
    broadcast(warp, specialSlots + unsigned(special) * 4 * warpSize, 4, value);
  }

  void setSpecials(Warp &warp, uint32_t dynamicShared) {
    auto lanes = [&](Special special) {
      return warp.at<uint32_t>(specialSlots + unsigned(special) * 4 * warpSize);
    };
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      Dim3 position = positionOf(warp.thread(lane), launch.blockSize);
      lanes(Special::TidX)[lane] = position.x;
      lanes(Special::TidY)[lane] = position.y;
      lanes(Special::TidZ)[lane] = position.z;
      lanes(Special::LaneId)[lane] = lane;
      lanes(Special::LaneMaskEq)[lane] = 1u << lane;
      lanes(Special::LaneMaskLt)[lane] = (1u << lane) - 1;
      lanes(Special::LaneMaskLe)[lane] = (2u << lane) - 1;
      lanes(Special::LaneMaskGt)[lane] = ~((2u << lane) - 1);
      lanes(Special::LaneMaskGe)[lane] = ~((1u << lane) - 1);
    }
    setSpecial(warp, Special::NtidX, launch.blockSize.x);
    setSpecial(warp, Special::NtidY, launch.blockSize.y);
    setSpecial(warp, Special::NtidZ, launch.blockSize.z);
    setSpecial(warp, Special::NctaidX, launch.grid.x);
    setSpecial(warp, Special::NctaidY, launch.grid.y);
    setSpecial(warp, Special::NctaidZ, launch.grid.z);
    setSpecial(warp, Special::WarpId, warp.number);
    setSpecial(warp, Special::NumWarps, uint32_t(block.warps.size()));
    setSpecial(warp, Special::DynamicSharedSize, dynamicShared);
    setSpecial(warp, Special::TotalSharedSize, launch.kernel.sharedBytes + dynamicShared);
  }

  void start(uint32_t number, uint32_t before) {
    block.number = number;
    block.position = positionOf(number, launch.grid);
    block.live = block.threads;
    block.sharedState = outside;
    ++block.sharedGeneration;
    block.sharedReleases.clear();
    block.localState.clear();
    for (uint32_t thread = 0; thread < block.threads && block.localBytes; ++thread)
      block.localState.insert(block.localState.end(), localStates.begin(), localStates.end());
    block.ordering.start(number, uint32_t(block.warps.size()), before);
    block.barriers = {};
    for (Warp &warp : block.warps) {
      uint32_t lanes = std::min(block.threads - warp.number * warpSize, warpSize);
      warp.live = lanes == warpSize ? ~0u : (1u << lanes) - 1;
      warp.carry = 0;
      Group group;
      group.pc = launch.function.first;
      group.mask = warp.live;
      warp.groups.assign(1, group);
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        warp.returns[lane].clear();
        warp.copies[lane].clear();
      }
      setSpecial(warp, Special::CtaidX, block.position.x);
      setSpecial(warp, Special::CtaidY, block.position.y);
      setSpecial(warp, Special::CtaidZ, block.position.z);
    }
  }

  struct alignas(64) Line {
    std::byte bytes[64];
  };

  LaunchState &launch;
  Block block;
  std::vector<uint64_t> sharedAddresses; ///< of Program::shared
  std::vector<ByteState> outside;        ///< of shared memory before a block
  std::vector<ByteState> localStates;    ///< of a thread's local memory before a block
  std::vector<Line> files;
  std::vector<std::byte> arenas;
};

Error usage(const Kernel &kernel, std::string message) {
  Error error;
  error.kernel = kernel.name;
  error.message = "launch of kernel '" + kernel.name + "': " + std::move(message);
  return error;
}

Error errorOf(const LaunchState &launch, const Block &block, Fault &fault) {
  const Warp &warp = *block.running;
  const Origin &origin = launch.program.origins[warp.pc];
  Error error;
  error.kind = fault.kind;
  error.kernel = launch.kernel.name;
  error.line = origin.line;
  error.instruction = origin.text;
  error.op = origin.op;
  error.block = block.position;
  error.thread = positionOf(warp.thread(fault.lane), launch.blockSize);
  error.message = "kernel '" + error.kernel + "', PTX line " + std::to_string(error.line) + " '" +
                  error.instruction + "'" + (error.op.empty() ? "" : ", of " + error.op) +
                  (origin.source.empty() ? "" : " (" + origin.source + ")") + ", block " +
                  text(error.block) + ", thread " + text(error.thread) + ": " + fault.message;
  return error;
}

std::optional<Error> checkArguments(const Kernel &kernel, Dim3 grid, Dim3 block,
                                    uint32_t dynamicShared, size_t parameterBytes,
                                    const LaunchOptions &options) {
  if (!kernel.program->loaded && !kernel.program->variables.empty())
    return usage(kernel, "its module is not loaded");
  if (grid.count() == 0 || block.count() == 0 || block.count() > 1024 || block.z > 64)
    return usage(kernel, "a grid of " + text(grid) + " blocks of " + text(block) +
                             " threads: a block has 1 to 1024 threads, at most 64 in z");
  if (grid.y > 65535 || grid.z > 65535 || grid.x > 0x7fffffff)
    return usage(kernel, "a grid of " + text(grid) + " blocks is too large");
  if (grid.count() >> Stamp::blockBits)
    return usage(kernel, "more than 2^25 blocks are not supported");
  if (kernel.requiredBlock && !(*kernel.requiredBlock == block))
    return usage(kernel, "blocks of " + text(block) + " threads, where it requires " +
                             text(*kernel.requiredBlock));
  if (kernel.largestBlock && block.count() > kernel.largestBlock->count())
    return usage(kernel, "blocks of " + text(block) + " threads, where it allows " +
                             text(*kernel.largestBlock));
  if (parameterBytes != kernel.parameterBytes)
    return usage(kernel, std::to_string(parameterBytes) + " bytes of parameters, where it has " +
                             std::to_string(kernel.parameterBytes));
  constexpr uint32_t mostShared = 227 * 1024; // of sm_90
  if (uint64_t(kernel.sharedBytes) + dynamicShared > mostShared)
    return usage(kernel, std::to_string(uint64_t(kernel.sharedBytes) + dynamicShared) +
                             " bytes of shared memory, where a block has at most " +
                             std::to_string(mostShared));
  return std::nullopt;
}

} // namespace

LaunchResult launch(const Kernel &kernel, Memory &memory, Dim3 grid, Dim3 blockSize,
                    uint32_t dynamicShared, std::span<const std::byte> parameters,
                    const LaunchOptions &options) {
  if (auto error =
          checkArguments(kernel, grid, blockSize, dynamicShared, parameters.size(), options))
    return {std::move(error), {}};
  const Program &program = *kernel.program;
  LaunchState state{kernel,     program, program.functions[kernel.function],
                    memory,     grid,    blockSize,
                    parameters, options};
  state.generation = memory.nextGeneration();
  state.cache.resize(program.accesses.size());
  Launcher launcher(state, dynamicShared);
  LaunchResult result;
  try {
    launcher.run();
  } catch (Fault &fault) {
    result.error = errorOf(state, launcher.running(), fault);
  }
  result.counts = state.counts;
  return result;
}

} // namespace accc::ptx
