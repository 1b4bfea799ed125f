// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The geometry of sliding windows, which pooling and convolution share.
#ifndef ACCC_IR_PRIM_GEOMETRY_H
#define ACCC_IR_PRIM_GEOMETRY_H

#include "ir/prim/Infer.h"

#include "llvm/Support/MathExtras.h"

namespace accc::prim {
class Tensor;

/// How many positions a window of `window` elements, `dilation` apart, has along an extent padded
/// by `low` and `high`, moving by `stride`; 0 if it does not fit once.
inline int64_t windowPositions(int64_t extent, int64_t low, int64_t high, int64_t window,
                               int64_t dilation, int64_t stride) {
  int64_t room = extent + low + high - ((window - 1) * dilation + 1);
  return room < 0 ? 0 : room / stride + 1;
}

/// The same of a pooling. With `ceilMode` a last window counts that reaches beyond the padded
/// extent, unless it starts in the high padding or after it: so do PyTorch (pooling_output_shape)
/// and ONNX. A window larger than the padded extent then has one position where the next would lie
/// beyond.
inline int64_t poolingPositions(int64_t extent, int64_t low, int64_t high, int64_t window,
                                int64_t dilation, int64_t stride, bool ceilMode) {
  if (!ceilMode)
    return windowPositions(extent, low, high, window, dilation, stride);
  int64_t room = extent + low + high - ((window - 1) * dilation + 1);
  int64_t last = llvm::divideCeilSigned(room, stride);
  if (last * stride >= extent + low)
    --last;
  return std::max<int64_t>(last + 1, 0);
}

/// Whether windows have more elements than code names one by one. Such windows are split
/// (--split-windows), and their gradients take other forms.
inline bool isLargeWindow(int64_t elements) { return elements > 64; }
inline bool isLargeWindow(llvm::ArrayRef<int64_t> window) {
  int64_t elements = 1;
  for (int64_t extent : window)
    if (isLargeWindow(elements *= extent)) // the product of all might overflow
      return true;
  return false;
}

/// The attributes of a window op, one entry for each dimension of the operand.
struct WindowGeometry {
  llvm::ArrayRef<int64_t> extents, window, strides, dilations, low, high;

  template <typename OpOrAdaptor> static WindowGeometry of(OpOrAdaptor op, mlir::Value operand) {
    return of(op, tensorType(operand).getShape());
  }
  /// Of an op that has the extents itself.
  template <typename OpOrAdaptor> static WindowGeometry of(OpOrAdaptor op) {
    return of(op, op.getExtents());
  }
  template <typename OpOrAdaptor>
  static WindowGeometry of(OpOrAdaptor op, llvm::ArrayRef<int64_t> extents) {
    return {extents,           op.getWindow(), op.getStrides(),
            op.getDilations(), op.getPadLow(), op.getPadHigh()};
  }

  /// The element number `offset` along each dimension of the window at `position`.
  llvm::SmallVector<mlir::AffineExpr> elementAt(llvm::ArrayRef<mlir::AffineExpr> position,
                                                llvm::ArrayRef<int64_t> offset) const {
    llvm::SmallVector<mlir::AffineExpr> at;
    for (size_t d = 0; d < offset.size(); ++d)
      at.push_back(position[d] * strides[d] + (offset[d] * dilations[d] - low[d]));
    return at;
  }

  /// reduce_window_c1, as an error of `Op`.
  template <typename Op> mlir::LogicalResult check(std::optional<mlir::Location> loc) const {
    int64_t rank = static_cast<int64_t>(extents.size());
    for (auto [name, list, least] :
         {std::tuple("window", window, 1), std::tuple("strides", strides, 1),
          std::tuple("dilations", dilations, 1), std::tuple("pad_low", low, 0),
          std::tuple("pad_high", high, 0)})
      if (failed(checkEntries<Op>(loc, name, list, rank)) ||
          failed(checkLeast<Op>(loc, name, list, least)))
        return mlir::failure();
    return mlir::success();
  }

  /// The extents of the result: the positions of the window.
  llvm::SmallVector<int64_t> positions() const {
    llvm::SmallVector<int64_t> result;
    for (size_t d = 0; d < extents.size(); ++d)
      result.push_back(
          windowPositions(extents[d], low[d], high[d], window[d], dilations[d], strides[d]));
    return result;
  }

  /// Whether there is a position at which the window holds no element of the operand. Along one
  /// dimension the window's elements at a position lie apart by the dilation, and may straddle a
  /// short operand or lie in the padding altogether.
  bool hasEmptyWindow() const {
    llvm::SmallVector<int64_t> counts = positions();
    if (llvm::is_contained(counts, 0))
      return false;
    for (size_t d = 0; d < extents.size(); ++d)
      for (int64_t o = 0; o < counts[d]; ++o) {
        int64_t origin = o * strides[d] - low[d];
        int64_t first = origin >= 0 ? 0 : (-origin + dilations[d] - 1) / dilations[d];
        if (first >= window[d] || origin + first * dilations[d] >= extents[d])
          return true;
      }
    return false;
  }
};

/// The type in which arg_window numbers the elements of such a window.
mlir::IntegerType windowNumberType(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> window);

/// dx of the greatest element of each window of x (or the least): dy goes to the first of what is
/// equal. Which that is is determined right behind `forward`, so that x need not be kept for it.
Tensor greatestGradient(mlir::Operation *forward, mlir::Value x, bool isLeast,
                        const WindowGeometry &geometry, Tensor dy);

/// The row-major indices in the operand (i64) of the elements with these numbers in their windows;
/// -1 where a number is.
Tensor windowElements(Tensor numbers, const WindowGeometry &geometry);

} // namespace accc::prim

#endif
