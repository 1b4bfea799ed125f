// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows that slide over the spatial dimensions of convolutions and poolings.
#ifndef ACCC_FRONTEND_COMMON_WINDOWS_H
#define ACCC_FRONTEND_COMMON_WINDOWS_H

#include "frontend/common/NodeBuilder.h"

namespace accc::frontend {

/// One entry for each spatial dimension.
struct WindowGeometry {
  llvm::SmallVector<int64_t> window, strides, dilations, low, high;
  bool ceilMode = false;

  size_t rank() const { return window.size(); }
  /// The extent that a window covers.
  int64_t extent(size_t i) const { return (window[i] - 1) * dilations[i] + 1; }
  /// How many windows there are along a dimension of `input` elements. Windows that would start in
  /// the high padding or after it do not count.
  int64_t count(size_t i, int64_t input) const;
};

/// Throws ImportError for numbers that make no sense: below 1 (paddings: below 0), or so large that
/// sums and products of a few overflow.
void checkNumbers(const WindowGeometry &g);
/// Throws ImportError unless the tensor has 1 to 3 spatial dimensions, after batch and channels.
void checkSpatial(prim::Tensor x);
/// Throws ImportError where a window does not fit the padded tensor.
void checkFits(const WindowGeometry &g, prim::Tensor x);

/// The geometry as attributes of nn's poolings.
llvm::SmallVector<mlir::NamedAttribute> windowAttributes(NodeBuilder &node,
                                                         const WindowGeometry &g);
/// The same window for prim's window ops: all dimensions, and high padding instead of ceil_mode
/// (positions outside the operand do not count there).
llvm::SmallVector<mlir::NamedAttribute> primitiveWindow(NodeBuilder &node, const WindowGeometry &g,
                                                        prim::Tensor x);
/// Where each window's first greatest element is: its row-major index in x (i64).
prim::Tensor greatestElements(NodeBuilder &node, prim::Tensor x, const WindowGeometry &g);
prim::Tensor reduceWindow(NodeBuilder &node, prim::Tensor x, const WindowGeometry &g,
                          prim::ReduceKind kind);

} // namespace accc::frontend

#endif
