// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sequences of several lengths as PyTorch packs them: the longest first, and of each time those
// that last so long, side by side in one dimension.
#ifndef ACCC_FRONTEND_ATEN_PACKEDSEQUENCES_H
#define ACCC_FRONTEND_ATEN_PACKEDSEQUENCES_H

#include "frontend/common/NodeBuilder.h"

namespace accc::aten {

class PackedSequences {
public:
  /// Of the number of sequences that last to each time. Throws ImportError if these are no sizes of
  /// packed sequences.
  PackedSequences(frontend::NodeBuilder &node, llvm::ArrayRef<int64_t> batchSizes);
  /// Of the lengths of the sequences, of which none is longer than `times`.
  static PackedSequences ofLengths(frontend::NodeBuilder &node, llvm::ArrayRef<int64_t> lengths,
                                   int64_t times);

  int64_t times() const { return static_cast<int64_t>(sizes.size()); }
  int64_t count() const { return static_cast<int64_t>(lengths.size()); }
  bool haveOneLength() const { return lengths.back() == times(); }
  llvm::ArrayRef<int64_t> batchSizes() const { return sizes; }
  llvm::ArrayRef<int64_t> sequenceLengths() const { return lengths; }

  // Padded tensors are [times or more, count, ...], packed ones [elements, ...].
  prim::Tensor pack(prim::Tensor padded) const;
  prim::Tensor pad(prim::Tensor packed, double padding, int64_t times) const;
  /// Padded sequences, each from its last element to its first.
  prim::Tensor reversed(prim::Tensor padded) const;
  /// Of each padded sequence the last element, [count, ...].
  prim::Tensor last(prim::Tensor padded) const;
  /// Whether there is no element, i1 [times, count].
  prim::Tensor isPadding(int64_t times) const;

private:
  /// Elements (time, sequence) of a padded tensor.
  prim::Tensor take(prim::Tensor padded, llvm::ArrayRef<std::pair<int64_t, int64_t>> at) const;

  frontend::NodeBuilder &node;
  llvm::SmallVector<int64_t> sizes, lengths;
};

} // namespace accc::aten

#endif
