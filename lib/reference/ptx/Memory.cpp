// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/ptx/Memory.h"
#include "reference/ptx/Windows.h"

#include <algorithm>
#include <cstring>

namespace accc::ptx {

namespace {

constexpr uint64_t granularity = 512;

std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
  return text;
}

Error usage(ErrorKind kind, std::string message) {
  Error error;
  error.kind = kind;
  error.message = std::move(message);
  return error;
}

} // namespace

Memory::Memory(uint64_t capacity) : capacity(capacity), next(windows::global) {}

uint64_t Memory::allocate(uint64_t bytes) {
  if (bytes == 0 || bytes > capacity - inUse)
    return 0;
  auto allocation = std::make_unique<Allocation>();
  allocation->address = next;
  allocation->bytes = bytes;
  try {
    allocation->owned = std::make_unique_for_overwrite<std::byte[]>(bytes);
    allocation->initialized.resize(bytes);
  } catch (const std::bad_alloc &) {
    return 0;
  }
  allocation->data = allocation->owned.get();
  std::memset(allocation->data, 0xff, bytes);
  next += (bytes + 2 * granularity - 1) / granularity * granularity;
  inUse += bytes;
  ++changes;
  uint64_t address = allocation->address;
  allocations.emplace(address, std::move(allocation));
  return address;
}

std::optional<Error> Memory::free(uint64_t address) {
  auto found = allocations.find(address);
  if (found == allocations.end() || !found->second->owned)
    return usage(ErrorKind::Usage, "free of " + hex(address) + ", which is no allocation: it is " +
                                       describe(address));
  inUse -= found->second->bytes;
  ++changes;
  allocations.erase(found);
  return std::nullopt;
}

std::optional<Error> Memory::registerHost(void *host, uint64_t bytes) {
  uint64_t address = reinterpret_cast<uint64_t>(host);
  auto above = allocations.lower_bound(address);
  bool overlaps = above != allocations.end() && above->first - address < bytes;
  if (bytes == 0 || overlaps || find(address))
    return usage(ErrorKind::Usage,
                 "host memory at " + hex(address) + " is already registered, or empty");
  auto allocation = std::make_unique<Allocation>();
  allocation->address = address;
  allocation->bytes = bytes;
  allocation->data = static_cast<std::byte *>(host);
  allocation->name = "host memory";
  ++changes;
  allocations.emplace(address, std::move(allocation));
  return std::nullopt;
}

std::optional<Error> Memory::unregisterHost(void *host) {
  auto found = allocations.find(reinterpret_cast<uint64_t>(host));
  if (found == allocations.end() || found->second->owned)
    return usage(ErrorKind::Usage,
                 "host memory at " + hex(reinterpret_cast<uint64_t>(host)) + " is not registered");
  ++changes;
  allocations.erase(found);
  return std::nullopt;
}

Allocation *Memory::find(uint64_t address) {
  auto above = allocations.upper_bound(address);
  if (above == allocations.begin())
    return nullptr;
  Allocation *allocation = std::prev(above)->second.get();
  return allocation->contains(address, 1) ? allocation : nullptr;
}

std::string Memory::describe(uint64_t address) const {
  if (const Allocation *inside = find(address))
    return std::to_string(address - inside->address) + " bytes into " +
           (inside->name.empty() ? "an allocation" : "'" + inside->name + "'") + " of " +
           std::to_string(inside->bytes) + " bytes";
  if (address < windows::shared)
    return address < 4096 ? "near null" : "no address of any memory";
  if (address < windows::end)
    return "an address in the window of shared, local or parameter memory";
  if (address >= next)
    return "no device address; host memory must be copied or registered";
  auto above = allocations.upper_bound(address);
  if (above == allocations.begin())
    return "below every allocation, or in freed memory";
  const Allocation &before = *std::prev(above)->second;
  uint64_t past = address - before.address - before.bytes;
  if (past >= 2 * granularity)
    return "in no allocation; freed, perhaps";
  return std::to_string(past) + " bytes past the end of " +
         (before.name.empty() ? "an allocation" : "'" + before.name + "'") + " of " +
         std::to_string(before.bytes) + " bytes";
}

std::optional<Error> Memory::findRange(uint64_t address, uint64_t bytes, const char *what,
                                       Allocation *&allocation) const {
  allocation = const_cast<Allocation *>(find(address));
  if (allocation && allocation->contains(address, bytes))
    return std::nullopt;
  return usage(ErrorKind::OutOfBounds, std::string(what) + " of " + std::to_string(bytes) +
                                           " bytes at " + hex(address) + ", which is " +
                                           describe(address));
}

std::optional<Error> Memory::write(uint64_t address, const void *host, uint64_t bytes) {
  if (bytes == 0)
    return std::nullopt;
  Allocation *to;
  if (auto error = findRange(address, bytes, "copy to the device", to))
    return error;
  std::memcpy(to->data + (address - to->address), host, bytes);
  if (!to->initialized.empty())
    std::fill_n(to->initialized.begin() + (address - to->address), bytes, 1);
  return std::nullopt;
}

std::optional<Error> Memory::read(void *host, uint64_t address, uint64_t bytes) const {
  if (bytes == 0)
    return std::nullopt;
  Allocation *from;
  if (auto error = findRange(address, bytes, "copy from the device", from))
    return error;
  std::memcpy(host, from->data + (address - from->address), bytes);
  return std::nullopt;
}

std::optional<Error> Memory::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  if (bytes == 0)
    return std::nullopt;
  Allocation *target, *source;
  if (auto error = findRange(to, bytes, "copy to the device", target))
    return error;
  if (auto error = findRange(from, bytes, "copy from the device", source))
    return error;
  if (to < from + bytes && from < to + bytes)
    return usage(ErrorKind::Usage, "copy of " + std::to_string(bytes) + " bytes from " + hex(from) +
                                       " to " + hex(to) + ", which overlap");
  std::memcpy(target->data + (to - target->address), source->data + (from - source->address),
              bytes);
  if (!target->initialized.empty()) {
    auto flags = target->initialized.begin() + (to - target->address);
    if (source->initialized.empty())
      std::fill_n(flags, bytes, 1);
    else
      std::copy_n(source->initialized.begin() + (from - source->address), bytes, flags);
  }
  return std::nullopt;
}

std::optional<Error> Memory::fill(uint64_t address, uint32_t pattern, unsigned width,
                                  uint64_t count) {
  if (width != 1 && width != 2 && width != 4)
    return usage(ErrorKind::Usage, "a fill pattern has 1, 2 or 4 bytes");
  if (address % width)
    return usage(ErrorKind::Misaligned,
                 "fill at " + hex(address) + ", which is no multiple of " + std::to_string(width));
  if (count == 0)
    return std::nullopt;
  Allocation *to;
  if (auto error = findRange(address, count * width, "fill", to))
    return error;
  std::byte *data = to->data + (address - to->address);
  for (uint64_t i = 0; i < count; ++i)
    std::memcpy(data + i * width, &pattern, width);
  if (!to->initialized.empty())
    std::fill_n(to->initialized.begin() + (address - to->address), count * width, 1);
  return std::nullopt;
}

std::optional<uint64_t> Memory::firstUninitialized(uint64_t address, uint64_t bytes) const {
  const Allocation *allocation = find(address);
  if (!allocation || !allocation->contains(address, bytes))
    return address;
  if (allocation->initialized.empty())
    return std::nullopt;
  auto begin = allocation->initialized.begin() + (address - allocation->address);
  auto found = std::find(begin, begin + bytes, 0);
  return found == begin + bytes ? std::nullopt : std::optional(address + (found - begin));
}

} // namespace accc::ptx
