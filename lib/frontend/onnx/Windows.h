// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows that slide over the spatial dimensions, as convolutions and poolings describe them.
#ifndef ACCC_FRONTEND_ONNX_WINDOWS_H
#define ACCC_FRONTEND_ONNX_WINDOWS_H

#include "frontend/onnx/Node.h"

namespace accc::onnx_import {

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

/// Reads strides, dilations, pads, auto_pad and ceil_mode of a node whose window is `window`, over
/// the `spatial` extents. Throws ImportError for lists of another length, or numbers that make no
/// sense.
WindowGeometry readGeometry(Node &node, llvm::ArrayRef<int64_t> spatial,
                            llvm::ArrayRef<int64_t> window);

/// A list attribute with one positive entry for each spatial dimension, ones by default.
llvm::SmallVector<int64_t> positiveList(Node &node, llvm::StringRef name, size_t rank);

/// The `pads` attribute as what comes before and after, zeros by default.
std::pair<llvm::SmallVector<int64_t>, llvm::SmallVector<int64_t>> padsOf(Node &node, size_t rank);

} // namespace accc::onnx_import

#endif
