// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CPU_MEMORY_H
#define ACCC_RUNTIME_CPU_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace accc::detail {

/// Zeroed memory straight from the system, aligned to a page, and where it is large to a huge page
/// (2 MB) and of huge pages where the system gives them: a step that walks through hundreds of
/// megabytes would otherwise spend a tenth of its time on page faults and table walks.
class Memory {
public:
  Memory() = default;
  /// `what` names the use in the Error (machine) of a system that has no more memory.
  Memory(uint64_t bytes, const std::string &what);
  Memory(Memory &&other) noexcept;
  Memory &operator=(Memory &&other) noexcept;
  ~Memory();

  char *data() const { return first; }
  uint64_t size() const { return bytes; }

private:
  char *first = nullptr;
  uint64_t bytes = 0;
  void *mapping = nullptr;
  size_t mapped = 0;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CPU_MEMORY_H
