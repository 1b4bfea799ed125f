// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory beside which nothing can be read or written.
#ifndef ACCC_TEST_UNIT_KERNELS_GUARDEDBUFFER_H
#define ACCC_TEST_UNIT_KERNELS_GUARDEDBUFFER_H

#include <cstddef>

namespace accc::test {

/// Which end of a buffer lies at a page that may not be touched. At the other one there may be
/// some bytes between the two.
enum class Guard { Before, Behind };

/// Zeros, aligned as tensors are. A process that touches the page at the guarded end dies. Throws
/// std::runtime_error where the system gives no memory.
class GuardedBuffer {
public:
  GuardedBuffer(size_t bytes, Guard guard);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer &&other) noexcept;
  GuardedBuffer(const GuardedBuffer &) = delete;

  void *data() const { return start; }

private:
  char *pages = nullptr;
  size_t mapped = 0;
  char *start = nullptr;
};

} // namespace accc::test

#endif
