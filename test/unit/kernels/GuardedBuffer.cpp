// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/GuardedBuffer.h"

#include "accc/abi.h"

#include "llvm/Support/MathExtras.h"

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace accc::test {

GuardedBuffer::GuardedBuffer(size_t bytes, Guard guard) {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t inside = llvm::alignTo(bytes, page);
  mapped = inside + 2 * page;
  void *memory = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED ||
      mprotect(static_cast<char *>(memory) + page, inside, PROT_READ | PROT_WRITE) != 0)
    throw std::runtime_error("no memory for " + std::to_string(bytes) + " bytes");
  pages = static_cast<char *>(memory);
  start = pages + page;
  if (guard == Guard::Behind)
    start += inside - llvm::alignTo(bytes, ACCC_ALIGNMENT);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer &&other) noexcept
    : pages(std::exchange(other.pages, nullptr)), mapped(other.mapped), start(other.start) {}

GuardedBuffer::~GuardedBuffer() {
  if (pages)
    munmap(pages, mapped);
}

} // namespace accc::test
