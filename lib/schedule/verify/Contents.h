// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lies in a stretch of memory, byte by byte.
#ifndef ACCC_SCHEDULE_VERIFY_CONTENTS_H
#define ACCC_SCHEDULE_VERIFY_CONTENTS_H

#include <cstdint>
#include <map>

namespace accc {

/// The bytes [begin, end) of a memory.
struct ByteRange {
  int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
  bool overlaps(const ByteRange &other) const { return begin < other.end && other.begin < end; }
  bool operator==(const ByteRange &other) const = default;
};

/// Which value's which bytes each byte of a memory holds. Writing and reading take time that is
/// logarithmic in the number of values, and linear in the number of them that a range touches.
class Contents {
public:
  enum class Finding { Holds, Unwritten, HoldsAnother };

  /// The range holds the bytes of `value` from its byte number `part` on.
  void write(ByteRange range, int64_t value, int64_t part);

  /// Whether the whole range holds the bytes of `value` from number `part` on; if not, the first
  /// byte that does not says why, and `other` is the value that it holds.
  Finding find(ByteRange range, int64_t value, int64_t part, int64_t &other) const;

private:
  struct Piece {
    int64_t end, value, part;
  };
  std::map<int64_t, Piece> pieces; // by first byte, disjoint
};

} // namespace accc

#endif
