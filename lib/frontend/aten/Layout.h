// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the elements of a tensor lie in memory, as PyTorch has it.
#ifndef ACCC_FRONTEND_ATEN_LAYOUT_H
#define ACCC_FRONTEND_ATEN_LAYOUT_H

#include "frontend/aten/Argument.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace accc::aten {

/// The strides of a tensor and its offset in its storage, in elements, or that these are not known.
/// accc computes with values, which lie wherever it likes; but whether two tensors of a PyTorch
/// program share elements, and what as_strided() reads, depends on how they lie there. The rules
/// are those of PyTorch 2.15 for tensors on a CPU, to the strides of dimensions of extent 1.
class Layout {
public:
  /// Not known, since those of what the operator `origin` gives are not.
  static Layout unknown(llvm::ArrayRef<int64_t> shape, std::string origin);
  static Layout contiguous(llvm::ArrayRef<int64_t> shape);
  Layout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides, int64_t offset = 0);

  bool isKnown() const { return lies.has_value(); }
  const std::string &origin() const { return unknownOrigin; }
  llvm::ArrayRef<int64_t> shape() const { return extents; }
  // Of known ones.
  llvm::ArrayRef<int64_t> strides() const { return *lies; }
  int64_t offset() const { return first; }
  bool operator==(const Layout &other) const;

  /// Whether the elements lie in a format, and the one that PyTorch gives results by.
  bool isIn(MemoryFormat format) const;
  MemoryFormat suggestedFormat() const;
  /// Whether the elements lie together, in some order of the dimensions.
  bool isDense() const;
  /// Whether two elements are one in memory.
  bool overlaps() const;

  // ---- views ----
  // Those of an unknown layout are unknown.
  Layout transposed(llvm::ArrayRef<int64_t> order) const;
  /// The elements start, start + step, ... of a dimension.
  Layout sliced(int64_t dim, int64_t start, int64_t step, int64_t extent) const;
  /// Without this dimension, at one of its elements.
  Layout selected(int64_t dim, int64_t index) const;
  /// With a dimension of extent 1 in front of `dim`.
  Layout unsqueezed(int64_t dim) const;
  Layout squeezed(llvm::ArrayRef<int64_t> dims) const;
  Layout expanded(llvm::ArrayRef<int64_t> shape) const;
  /// Windows of a dimension along a new last one.
  Layout unfolded(int64_t dim, int64_t size, int64_t step, int64_t count) const;
  Layout diagonal(int64_t offset, int64_t dim1, int64_t dim2, int64_t length) const;
  Layout asPairs() const;
  Layout asComplex() const;
  /// As another shape, or nothing where the strides do not allow that without a copy. For an
  /// unknown layout, nothing as soon as some strides do not allow it.
  std::optional<Layout> viewed(llvm::ArrayRef<int64_t> shape) const;

  // ---- copies ----
  /// A tensor of the same shape in this format.
  Layout copied(MemoryFormat format) const;
  /// The result of an operator that goes through its operands element by element, which are
  /// broadcast to `shape`: TensorIterator's.
  static Layout ofElementwise(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Layout> operands);

private:
  Layout() = default;

  llvm::SmallVector<int64_t> extents;
  std::optional<llvm::SmallVector<int64_t>> lies;
  int64_t first = 0;
  std::string unknownOrigin;
};

} // namespace accc::aten

#endif
