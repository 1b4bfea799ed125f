// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Memory.h"

#include "accc/error.h"

#include <sys/mman.h>
#include <utility>

namespace accc::detail {

constexpr uint64_t hugePage = 2u << 20;

Memory::Memory(uint64_t bytes, const std::string &what) : bytes(bytes) {
  if (!bytes)
    return;
  bool huge = bytes >= hugePage;
  mapped = bytes + (huge ? hugePage : 0);
  mapping = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED || mapped < bytes) {
    mapping = nullptr;
    throw Error(ErrorKind::machine, "out of memory: " + what + " needs " +
                                        std::to_string((bytes + (1u << 20) - 1) >> 20) + " MB");
  }
  first = static_cast<char *>(mapping);
  if (huge) {
    auto address = reinterpret_cast<uintptr_t>(mapping);
    first += (hugePage - address % hugePage) % hugePage;
    ::madvise(first, bytes, MADV_HUGEPAGE); // a wish: not every system has huge pages
  }
}

Memory::Memory(Memory &&other) noexcept
    : first(std::exchange(other.first, nullptr)), bytes(std::exchange(other.bytes, 0)),
      mapping(std::exchange(other.mapping, nullptr)), mapped(std::exchange(other.mapped, 0)) {}

Memory &Memory::operator=(Memory &&other) noexcept {
  std::swap(first, other.first);
  std::swap(bytes, other.bytes);
  std::swap(mapping, other.mapping);
  std::swap(mapped, other.mapped);
  return *this;
}

Memory::~Memory() {
  if (mapping)
    ::munmap(mapping, mapped);
}

} // namespace accc::detail
