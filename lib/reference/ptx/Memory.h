// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device's global memory: allocations, host copies, and what is known of each byte.
#ifndef ACCC_REFERENCE_PTX_MEMORY_H
#define ACCC_REFERENCE_PTX_MEMORY_H

#include "reference/ptx/Error.h"
#include "reference/ptx/Shadow.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace accc::ptx {

/// A contiguous range of device memory.
struct Allocation {
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::byte *data = nullptr;        ///< the contents, in this process
  bool readOnly = false;            ///< for kernels; the host may write it
  std::string name;                 ///< of a module's variable; for messages
  std::vector<uint8_t> initialized; ///< 1 for each byte that was written; empty: all were
  Shadow shadow;                    ///< who accessed it in the current launch
  std::unique_ptr<std::byte[]> owned;

  bool contains(uint64_t start, uint64_t size) const {
    return start >= address && size <= bytes && start - address <= bytes - size;
  }
};

/// Global memory of one device. Addresses are no host pointers, lie apart from each other (an
/// access past the end hits nothing), are multiples of 512 and are never given out twice, so that a
/// use after free is found. New memory holds bytes 0xFF, which are NaN to floating point, and
/// counts as never written.
///
/// Not to be used by two threads at once; a launch uses it until it returns.
class Memory {
public:
  /// At most `capacity` bytes may be allocated at a time.
  explicit Memory(uint64_t capacity = uint64_t(1) << 40);
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// Gives the address of `bytes` new bytes; 0 where they exceed the capacity, or the host's, or
  /// are none.
  uint64_t allocate(uint64_t bytes);
  /// Frees what allocate() gave; an error for every other address.
  std::optional<Error> free(uint64_t address);

  /// Makes host memory accessible to kernels at its own address, as pinned host memory is. All of
  /// it counts as initialized. An error where it overlaps what is registered.
  std::optional<Error> registerHost(void *host, uint64_t bytes);
  std::optional<Error> unregisterHost(void *host);

  /// Host to device.
  std::optional<Error> write(uint64_t address, const void *host, uint64_t bytes);
  /// Device to host. Reads what was never written, too: ask firstUninitialized().
  std::optional<Error> read(void *host, uint64_t address, uint64_t bytes) const;
  /// Device to device; bytes that were never written stay so. An error where the ranges overlap.
  std::optional<Error> copy(uint64_t to, uint64_t from, uint64_t bytes);
  /// Writes `count` times the lowest `width` (1, 2 or 4) bytes of `pattern`.
  std::optional<Error> fill(uint64_t address, uint32_t pattern, unsigned width, uint64_t count);

  /// The address of the first byte of the range that nobody wrote; none where all were.
  std::optional<uint64_t> firstUninitialized(uint64_t address, uint64_t bytes) const;

  /// The allocation, or registered host memory, that holds `address`; null where none does.
  Allocation *find(uint64_t address);
  const Allocation *find(uint64_t address) const {
    return const_cast<Memory *>(this)->find(address);
  }
  /// Where an address that nothing holds lies in relation to the nearest allocation; for messages.
  std::string describe(uint64_t address) const;

  uint64_t bytesInUse() const { return inUse; }

  // For launches and modules.

  /// Starts a launch: what shadows remember of the one before is void.
  uint32_t nextGeneration() { return ++generation; }
  /// A counter that changes whenever an allocation is made or freed.
  uint64_t version() const { return changes; }

private:
  std::optional<Error> findRange(uint64_t address, uint64_t bytes, const char *what,
                                 Allocation *&allocation) const;

  std::map<uint64_t, std::unique_ptr<Allocation>> allocations; // by address
  uint64_t capacity;
  uint64_t inUse = 0;
  uint64_t next;
  uint32_t generation = 0;
  uint64_t changes = 0;
};

} // namespace accc::ptx

#endif
