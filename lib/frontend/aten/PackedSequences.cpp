// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/PackedSequences.h"
#include "frontend/common/Indexing.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using namespace accc::frontend;
using accc::prim::Tensor;

PackedSequences::PackedSequences(NodeBuilder &node, ArrayRef<int64_t> batchSizes)
    : node(node), sizes(batchSizes) {
  if (sizes.empty() || sizes.back() < 1 ||
      !llvm::is_sorted(sizes, [](int64_t a, int64_t b) { return a > b; }))
    fail("packed sequences cannot have the batch sizes " + show(sizes));
  lengths.assign(sizes.front(), 0);
  for (int64_t size : sizes)
    for (int64_t sequence = 0; sequence < size; ++sequence)
      ++lengths[sequence];
}

PackedSequences PackedSequences::ofLengths(NodeBuilder &node, ArrayRef<int64_t> lengths,
                                           int64_t times) {
  if (lengths.empty() || !llvm::is_sorted(lengths, [](int64_t a, int64_t b) { return a > b; }))
    fail("sequences are packed by length, the longest first, but have the lengths " +
         show(lengths) + ": pack_padded_sequence sorts them with enforce_sorted=False");
  if (lengths.back() < 1 || lengths.front() > times)
    fail("sequences of the lengths " + show(lengths) + " are not in a tensor of " + Twine(times) +
         " times");
  SmallVector<int64_t> sizes(lengths.front(), 0);
  for (int64_t length : lengths)
    for (int64_t time = 0; time < length; ++time)
      ++sizes[time];
  return PackedSequences(node, sizes);
}

Tensor PackedSequences::take(Tensor padded, ArrayRef<std::pair<int64_t, int64_t>> at) const {
  SmallVector<int64_t> rows;
  for (auto [time, sequence] : at)
    rows.push_back(time * count() + sequence);
  Tensor indices = node.integers(rows, {static_cast<int64_t>(rows.size())});
  return asRows(node, padded, 2).gather(indices, 0);
}

Tensor PackedSequences::pack(Tensor padded) const {
  SmallVector<std::pair<int64_t, int64_t>> at;
  for (auto [time, size] : llvm::enumerate(sizes))
    for (int64_t sequence = 0; sequence < size; ++sequence)
      at.emplace_back(time, sequence);
  return take(padded, at);
}

Tensor PackedSequences::pad(Tensor packed, double padding, int64_t times) const {
  SmallVector<int64_t> rows(times * count(), 0), shape = {times, count()};
  int64_t row = 0;
  for (auto [time, size] : llvm::enumerate(sizes))
    for (int64_t sequence = 0; sequence < size; ++sequence)
      rows[static_cast<int64_t>(time) * count() + sequence] = row++;
  if (packed.rank() < 1 || packed.dim(0) != row)
    fail("packed sequences of " + Twine(row) + " elements are a tensor of shape " +
         show(packed.shape()));
  llvm::append_range(shape, packed.shape().drop_front());
  Tensor padded = packed.gather(node.integers(rows, {times * count()}), 0).reshape(shape);
  if (haveOneLength() && times == this->times())
    return padded;
  return prim::select(isPadding(times).broadcast(shape, {0, 1}), padded.full(padding), padded);
}

Tensor PackedSequences::reversed(Tensor padded) const {
  SmallVector<std::pair<int64_t, int64_t>> at;
  for (int64_t time = 0; time < padded.dim(0); ++time)
    for (auto [sequence, length] : llvm::enumerate(lengths))
      at.emplace_back(time < length ? length - 1 - time : time, sequence);
  return take(padded, at).reshape(padded.shape());
}

Tensor PackedSequences::last(Tensor padded) const {
  SmallVector<std::pair<int64_t, int64_t>> at;
  for (auto [sequence, length] : llvm::enumerate(lengths))
    at.emplace_back(length - 1, sequence);
  return take(padded, at);
}

Tensor PackedSequences::isPadding(int64_t times) const {
  SmallVector<int64_t> shape = {times, count()};
  return node.iota(shape, 0) >= node.integers(lengths, {count()}).broadcast(shape, {1});
}
