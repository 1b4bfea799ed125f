// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/ptx/Touch.h"
#include "reference/ptx/FunctionDecoder.h"
#include "reference/ptx/Lanes.h"
#include "reference/ptx/Windows.h"

#include <algorithm>

namespace accc::ptx {

namespace {

std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
  return text;
}

const char *verb(const Access &access) {
  return access.atomic ? "updates " : access.write ? "writes " : "reads ";
}

std::string subject(const Access &access, const char *space, uint64_t address) {
  return verb(access) + std::to_string(access.bytes()) + " bytes at " + space + " address " +
         hex(address);
}

std::string actor(const Warp &warp, Stamp stamp) {
  std::string thread = "thread " + std::to_string(stamp.thread());
  if (stamp.has(Stamp::manyWarps) || stamp.has(Stamp::manyThreads))
    thread += " and others";
  if (stamp.has(Stamp::manyBlocks))
    return thread + " of block " + std::to_string(stamp.block()) + " and others of other blocks";
  return stamp.block() == warp.block->number
             ? thread + " of the same block"
             : thread + " of block " + std::to_string(stamp.block());
}

/// One lane's access while it is checked.
class Check {
public:
  Check(Warp &warp, const Access &access, uint32_t cached, unsigned lane)
      : warp(warp), block(*warp.block), launch(block.launch), access(access), cached(cached),
        lane(lane), bytes(access.bytes()) {}

  std::byte *run(uint64_t address) {
    Space space = access.space;
    if (space == Space::Generic && address < windows::end) {
      if (address - windows::shared < windows::size)
        return shared(address - windows::shared);
      if (address - windows::local < windows::size)
        return local(address - windows::local);
      if (address - windows::param < windows::size)
        return parameter(address - windows::param);
    }
    switch (space) {
    case Space::Shared:
      return shared(address);
    case Space::Local:
      return local(address);
    case Space::Param:
      return parameter(address);
    default:
      return global(address);
    }
  }

private:
  [[noreturn]] void fail(ErrorKind kind, std::string message) const {
    throw Fault{kind, lane, std::move(message)};
  }

  void checkAlignment(const char *space, uint64_t address) const {
    if (address & (bytes - 1))
      fail(ErrorKind::Misaligned,
           subject(access, space, address) + ", which is no multiple of " + std::to_string(bytes));
  }

  std::byte *global(uint64_t address) {
    checkAlignment("global", address);
    Allocation *allocation = launch.cache[cached];
    if (!allocation || !allocation->contains(address, bytes)) {
      allocation = launch.memory.find(address);
      if (!allocation || !allocation->contains(address, bytes))
        fail(ErrorKind::OutOfBounds,
             subject(access, "global", address) + ", which is " + launch.memory.describe(address));
      launch.cache[cached] = allocation;
    }
    uint64_t offset = address - allocation->address;
    if (allocation->readOnly ? access.write : access.space == Space::Const)
      fail(access.write ? ErrorKind::ReadOnly : ErrorKind::OutOfBounds,
           subject(access, "global", address) + (access.write
                                                     ? ", the constant '" + allocation->name + "'"
                                                     : ", which is no constant"));
    if (launch.options.checkRaces) {
      unsigned count;
      Cell *cells = allocation->shadow.cells(offset, bytes, launch.generation, count);
      race(cells, count, launch.releases, "global", address);
    }
    if (!allocation->initialized.empty()) {
      uint8_t *flags = allocation->initialized.data() + offset;
      if ((!access.write || access.atomic) && launch.options.checkInitialized)
        if (const uint8_t *none = std::find(flags, flags + bytes, 0); none != flags + bytes)
          fail(ErrorKind::Uninitialized,
               subject(access, "global", address) + ", " + launch.memory.describe(address) +
                   ": nobody has written byte " + std::to_string(none - flags));
      if (access.write)
        std::fill_n(flags, bytes, 1);
    }
    return allocation->data + offset;
  }

  /// Bounds and bytes never written, of shared and local memory.
  void checkState(ByteState *states, uint64_t size, uint64_t offset, const char *space,
                  uint64_t address) {
    bool inside = offset < size && bytes <= size - offset;
    if (!inside || std::find(states + offset, states + offset + bytes, ByteState::Outside) !=
                       states + offset + bytes)
      fail(ErrorKind::OutOfBounds,
           subject(access, space, address) + ", which is outside of every " + space + " variable");
    if ((!access.write || access.atomic) && launch.options.checkInitialized) {
      ByteState *none = std::find(states + offset, states + offset + bytes, ByteState::Unwritten);
      if (none != states + offset + bytes)
        fail(ErrorKind::Uninitialized, subject(access, space, address) +
                                           ": nobody has written byte " +
                                           std::to_string(none - states - offset));
    }
    if (access.write)
      std::fill_n(states + offset, bytes, ByteState::Written);
  }

  std::byte *shared(uint64_t address) {
    checkAlignment("shared", address);
    // Bounds come before the race's cells, the written bytes after: a race explains bytes not
    // written yet.
    if (launch.options.checkRaces && address < block.shared.size() &&
        bytes <= block.shared.size() - address) {
      unsigned count;
      Cell *cells = block.sharedShadow.cells(address, bytes, block.sharedGeneration, count);
      race(cells, count, block.sharedReleases, "shared", address);
    }
    checkState(block.sharedState.data(), block.sharedState.size(), address, "shared", address);
    return block.shared.data() + address;
  }

  std::byte *local(uint64_t address) {
    checkAlignment("local", address);
    size_t base = size_t(warp.thread(lane)) * block.localBytes;
    checkState(block.localState.data() + base, block.localBytes, address, "local", address);
    return block.local.data() + base + address;
  }

  std::byte *parameter(uint64_t address) {
    checkAlignment("parameter", address);
    if (address >= arenaBase) {
      uint64_t offset = address - arenaBase;
      if (offset + bytes > launch.function.arenaBytes)
        fail(ErrorKind::OutOfBounds,
             subject(access, "parameter", address) + ", outside of all parameters");
      return warp.arena + size_t(lane) * launch.function.arenaBytes + offset;
    }
    if (access.write)
      fail(ErrorKind::ReadOnly, subject(access, "parameter", address) + " of the kernel");
    if (address + bytes > launch.parameters.size())
      fail(ErrorKind::OutOfBounds, subject(access, "parameter", address) +
                                       " of the kernel, which has " +
                                       std::to_string(launch.parameters.size()) + " bytes of them");
    return const_cast<std::byte *>(launch.parameters.data()) + address;
  }

  [[noreturn]] void failRace(const char *space, uint64_t address, Stamp other,
                             const char *did) const {
    fail(ErrorKind::Race, subject(access, space, address) + ", which " + actor(warp, other) + " " +
                              did + " with nothing that orders the two");
  }

  void race(Cell *cells, unsigned count, Releases &releases, const char *space, uint64_t address) {
    Ordering &ordering = block.ordering;
    uint32_t thread = warp.thread(lane);
    const bool strong = access.atomic || access.strong;
    if (access.release)
      ordering.fence(thread);
    Stamp me = ordering.now(warp.number, lane);
    for (Cell *cell = cells; cell != cells + count; ++cell) {
      Stamp write = cell->write, read = cell->read, atomic = cell->atomic;
      if (access.nonCoherent && (write || atomic))
        fail(ErrorKind::ReadOnly,
             subject(access, space, address) + " through ld.global.nc, which " +
                 actor(warp, write ? write : atomic) + " wrote in this launch");
      if (write && !ordering.settled(write, me))
        failRace(space, address, write, "wrote");
      if (!strong && atomic && !ordering.settled(atomic, me))
        failRace(space, address, atomic, "updated");
      if (!access.write) {
        if (!strong) {
          cell->read = ordering.join(read, me);
          cell->read.bits |= access.nonCoherent ? uint64_t(Stamp::nonCoherent) : 0;
        }
        continue;
      }
      if (read.has(Stamp::nonCoherent))
        fail(ErrorKind::ReadOnly, subject(access, space, address) + ", which " + actor(warp, read) +
                                      " read through ld.global.nc in this launch");
      if (read && !ordering.settled(read, me))
        failRace(space, address, read, "read");
      // What is ordered before this write need not be compared with any more.
      if (strong)
        cell->atomic = ordering.join(atomic, me);
      else
        *cell = {me, {}, {}};
    }
    if (strong) {
      if (!access.write || access.atomic)
        ordering.strongRead(thread, releases, address);
      if (access.write)
        ordering.strongWrite(thread, releases, address);
      if (access.acquire)
        ordering.fence(thread);
    }
  }

  Warp &warp;
  Block &block;
  LaunchState &launch;
  const Access &access;
  uint32_t cached;
  unsigned lane, bytes;
};

/// The distinct values among the first `count`, which this may sort.
unsigned distinct(uint64_t *values, unsigned count) {
  if (!std::is_sorted(values, values + count))
    std::sort(values, values + count);
  return unsigned(std::unique(values, values + count) - values);
}

/// Passes over the banks for the lanes of `mask`, which are served together.
unsigned wavefronts(const Addresses &addresses, uint32_t mask, uint64_t base, unsigned bytes) {
  uint64_t words[warpSize];
  unsigned count = 0;
  for (uint32_t lanes = mask; lanes; lanes &= lanes - 1)
    for (unsigned at = 0; at < bytes; at += 4)
      words[count++] = (addresses.of[std::countr_zero(lanes)] - base + at) / 4;
  count = distinct(words, count);
  unsigned inBank[32] = {}, most = 0;
  for (unsigned i = 0; i < count; ++i)
    most = std::max(most, ++inBank[words[i] % 32]);
  return most;
}

void countShared(Counts &counts, const Access &access, uint32_t mask, const Addresses &addresses,
                 uint64_t base) {
  const unsigned bytes = access.bytes();
  uint64_t asked = uint64_t(std::popcount(mask)) * bytes;
  if (!access.write || access.atomic)
    counts.sharedReadBytes += asked;
  if (access.write)
    counts.sharedWriteBytes += asked;
  // 128 bytes are served at a time: of 8-byte accesses half a warp, of 16-byte ones a quarter.
  const unsigned lanes = bytes <= 4 ? 32 : 128 / bytes;
  for (unsigned first = 0; first < warpSize; first += lanes) {
    uint32_t part = mask & (lanes == 32 ? ~0u : ((1u << lanes) - 1) << first);
    if (!part)
      continue;
    unsigned passes = wavefronts(addresses, part, base, bytes);
    counts.sharedWavefronts += passes;
    counts.sharedExtraWavefronts += passes - 1;
  }
}

void countGlobal(Counts &counts, const Access &access, uint32_t mask, const Addresses &addresses) {
  uint64_t sectors[warpSize];
  unsigned count = 0;
  for (uint32_t lanes = mask; lanes; lanes &= lanes - 1)
    sectors[count++] = addresses.of[std::countr_zero(lanes)] / 32;
  uint64_t asked = uint64_t(count) * access.bytes();
  count = distinct(sectors, count);
  if (!access.write || access.atomic) {
    counts.globalReadBytes += asked;
    counts.globalReadSectors += count;
  }
  if (access.write) {
    counts.globalWriteBytes += asked;
    counts.globalWriteSectors += count;
  }
}

} // namespace

Addresses addressesOf(const Warp &warp, const Access &access) {
  Addresses result;
  if (access.address.bytes == 8) {
    const uint64_t *base = warp.at<uint64_t>(access.address.slot);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      result.of[lane] = base[lane] + uint64_t(access.offset);
  } else {
    const uint32_t *base = warp.at<uint32_t>(access.address.slot);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      result.of[lane] = uint32_t(base[lane] + uint64_t(access.offset));
  }
  return result;
}

std::byte *touch(Warp &warp, const Access &access, uint32_t cached, unsigned lane,
                 uint64_t address) {
  return Check(warp, access, cached, lane).run(address);
}

void countAccess(Warp &warp, const Access &access, uint32_t mask, const Addresses &addresses) {
  Counts &counts = warp.block->launch.counts;
  switch (access.space) {
  case Space::Shared:
    return countShared(counts, access, mask, addresses, 0);
  case Space::Local:
    counts.localBytes += uint64_t(std::popcount(mask)) * access.bytes();
    return;
  case Space::Param:
    return;
  case Space::Global:
  case Space::Const:
    return countGlobal(counts, access, mask, addresses);
  case Space::Generic:
    break;
  }
  uint32_t inShared = 0, inGlobal = 0;
  for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
    unsigned lane = unsigned(std::countr_zero(lanes));
    uint64_t address = addresses.of[lane];
    inShared |= uint32_t(address - windows::shared < windows::size) << lane;
    inGlobal |= uint32_t(address >= windows::end) << lane;
    if (address - windows::local < windows::size)
      counts.localBytes += access.bytes();
  }
  if (inShared)
    countShared(counts, access, inShared, addresses, windows::shared);
  if (inGlobal)
    countGlobal(counts, access, inGlobal, addresses);
}

} // namespace accc::ptx
