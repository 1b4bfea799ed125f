// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/verify/Contents.h"

#include <iterator>

using namespace accc;

void Contents::write(ByteRange range, int64_t value, int64_t part) {
  if (range.empty())
    return;
  auto it = pieces.upper_bound(range.begin);
  if (it != pieces.begin() && std::prev(it)->second.end > range.begin)
    --it;
  while (it != pieces.end() && it->first < range.end) {
    auto [begin, piece] = *it;
    it = pieces.erase(it);
    if (begin < range.begin)
      pieces[begin] = {range.begin, piece.value, piece.part};
    if (piece.end > range.end)
      pieces[range.end] = {piece.end, piece.value, piece.part + (range.end - begin)};
  }
  pieces[range.begin] = {range.end, value, part};
}

Contents::Finding Contents::find(ByteRange range, int64_t value, int64_t part,
                                 int64_t &other) const {
  int64_t at = range.begin;
  auto it = pieces.upper_bound(at);
  if (it != pieces.begin())
    --it;
  for (; at < range.end; ++it) {
    if (it == pieces.end() || it->first > at || it->second.end <= at)
      return Finding::Unwritten;
    if (it->second.value != value || it->second.part - it->first != part - range.begin) {
      other = it->second.value;
      return Finding::HoldsAnother;
    }
    at = it->second.end;
  }
  return Finding::Holds;
}
