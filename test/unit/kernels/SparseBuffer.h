// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors larger than the machine's memory, of which only what is touched takes any.
#ifndef ACCC_TEST_UNIT_KERNELS_SPARSEBUFFER_H
#define ACCC_TEST_UNIT_KERNELS_SPARSEBUFFER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>

namespace accc::test {

/// Virtual memory for `bytes` bytes. Throws std::runtime_error where the system gives none.
class SparseBuffer {
public:
  /// Zeros, each page of which becomes real when it is written.
  explicit SparseBuffer(uint64_t bytes);
  /// The pattern again and again, from the same few pages of real memory; to be read only. Its size
  /// is a multiple of a page's.
  SparseBuffer(uint64_t bytes, llvm::ArrayRef<char> pattern);
  ~SparseBuffer();
  SparseBuffer(SparseBuffer &&other) noexcept;
  SparseBuffer(const SparseBuffer &) = delete;

  char *data() const { return start; }
  uint64_t size() const { return bytes; }
  /// Calls `page` with the offset and the size of each page that was touched.
  void forEachTouchedPage(llvm::function_ref<void(uint64_t offset, uint64_t size)> page) const;

private:
  void reserve();

  char *start = nullptr;
  uint64_t bytes = 0, reserved = 0;
};

} // namespace accc::test

#endif
