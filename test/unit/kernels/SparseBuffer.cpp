// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/SparseBuffer.h"

#include "llvm/Support/MathExtras.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace accc::test {
namespace {

uint64_t pageSize() {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

/// A file in memory that holds the pattern.
int createFile(llvm::ArrayRef<char> pattern) {
  int file = memfd_create("pattern", MFD_CLOEXEC);
  if (file < 0 || write(file, pattern.data(), pattern.size()) != ssize_t(pattern.size()))
    throw std::runtime_error("no file in memory for a pattern");
  return file;
}

} // namespace

void SparseBuffer::reserve() {
  reserved = std::max(llvm::alignTo(bytes, pageSize()), pageSize());
  void *memory = mmap(nullptr, reserved, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw std::runtime_error("no addresses for " + std::to_string(bytes) + " bytes");
  madvise(memory, reserved, MADV_NOHUGEPAGE); // or one write would make 2 MiB real
  start = static_cast<char *>(memory);
}

SparseBuffer::SparseBuffer(uint64_t bytes) : bytes(bytes) { reserve(); }

SparseBuffer::SparseBuffer(uint64_t bytes, llvm::ArrayRef<char> pattern) : bytes(bytes) {
  reserve();
  int file = createFile(pattern);
  for (uint64_t at = 0; at < reserved; at += pattern.size())
    if (mmap(start + at, std::min<uint64_t>(pattern.size(), reserved - at), PROT_READ,
             MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
      throw std::runtime_error("no addresses for a pattern's repetitions");
  close(file);
}

SparseBuffer::SparseBuffer(SparseBuffer &&other) noexcept
    : start(std::exchange(other.start, nullptr)), bytes(other.bytes), reserved(other.reserved) {}

SparseBuffer::~SparseBuffer() {
  if (start)
    munmap(start, reserved);
}

void SparseBuffer::forEachTouchedPage(
    llvm::function_ref<void(uint64_t offset, uint64_t size)> page) const {
  std::vector<unsigned char> touched(reserved / pageSize());
  if (mincore(start, reserved, touched.data()) != 0)
    throw std::runtime_error("the system does not say which pages were touched");
  for (uint64_t i = 0; i < touched.size(); ++i)
    if (uint64_t offset = i * pageSize(); (touched[i] & 1) && offset < bytes)
      page(offset, std::min(pageSize(), bytes - offset));
}

} // namespace accc::test
