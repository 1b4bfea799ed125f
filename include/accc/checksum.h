// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of a compiled model's file, by which a loader tells that it is whole before it maps any
// code of it: a damaged library would end the program by a signal. `accc compile` appends it to the
// linked library:
//   8 bytes   "accc sum"
//   8 bytes   the length of all before, little endian
//   8 bytes   XXH64 (seed 0) of all before, little endian
#ifndef ACCC_CHECKSUM_H
#define ACCC_CHECKSUM_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace accc {

/// XXH64 of bytes that come in pieces, each but the last a multiple of 32 of them.
/// Source: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
class Xxh64 {
public:
  void add(const void *data, size_t bytes);
  uint64_t get() const;

private:
  static constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F,
                            kPrime3 = 0x165667B19E3779F9, kPrime4 = 0x85EBCA77C2B2AE63,
                            kPrime5 = 0x27D4EB2F165667C5;
  static uint64_t round(uint64_t lane, uint64_t word);

  uint64_t lanes_[4] = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
  uint64_t length_ = 0;
  unsigned char rest_[32] = {}; // what is left of the last piece
};

/// Appends the checksum to a file that has none. Throws Error (machine).
void append_checksum(const std::string &path);

/// Throws Error (data) unless an ELF file is whole: as its checksum says or, where it has none (it
/// was linked or stripped by something else), not shorter than its header says. Files of other
/// kinds are not looked at. Throws Error (machine) where it cannot be read.
void check_checksum(const std::string &path);

} // namespace accc

#endif // ACCC_CHECKSUM_H
