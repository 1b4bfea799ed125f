// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the recurrent cells share: their shapes, and the way from [T, B, ...] tensors to steps and
// back.
#ifndef ACCC_IR_NN_SEQUENCE_H
#define ACCC_IR_NN_SEQUENCE_H

#include "ir/nn/Rules.h"

namespace accc::nn {

/// Sizes of a recurrent op; the shapes of its operands and results follow from them (Recurrent.td).
struct SequenceShape {
  int64_t steps, batch, inputs, hidden, directions;
  bool batchFirst;

  template <typename Adaptor> static SequenceShape of(Adaptor op) {
    auto x = shapeOf(op.getX()), r = shapeOf(op.getR());
    bool batchFirst = op.getBatchFirst();
    return {x[batchFirst ? 1 : 0],
            x[batchFirst ? 0 : 1],
            x[2],
            r[2],
            op.getDirection() == RnnDirection::bidirectional ? 2 : 1,
            batchFirst};
  }

  llvm::SmallVector<int64_t> state() const {
    return batchFirst ? llvm::SmallVector<int64_t>{batch, directions, hidden}
                      : llvm::SmallVector<int64_t>{directions, batch, hidden};
  }
  llvm::SmallVector<int64_t> output() const {
    return batchFirst ? llvm::SmallVector<int64_t>{batch, steps, directions, hidden}
                      : llvm::SmallVector<int64_t>{steps, directions, batch, hidden};
  }
};

/// One direction of a recurrent op, unrolled: steps run in `order`, and what they make is put in
/// time's order. Weights have lost their direction dimension, tensors of all steps are [T, B, ...].
/// Of 16-bit floats, products read 16 bits and give f32, in which everything else is computed.
class Sequence {
public:
  template <typename Op>
  Sequence(Op op, mlir::OpBuilder &builder, int64_t direction)
      : shape(SequenceShape::of(op)), direction(direction),
        backward(op.getDirection() == RnnDirection::reverse || direction == 1),
        x(builder, op.getLoc(), op.getX()) {
    x = timeMajor(x);
  }

  const SequenceShape shape;
  const int64_t direction;
  const bool backward;

  /// Time indices in the order in which this direction runs.
  llvm::SmallVector<int64_t> order() const {
    llvm::SmallVector<int64_t> result = dimensionRange(0, shape.steps);
    if (backward)
      std::reverse(result.begin(), result.end());
    return result;
  }

  prim::Tensor input() const { return x; }
  /// [T, B, ...] from [B, T, ...] if batch first; its own inverse.
  prim::Tensor timeMajor(prim::Tensor value) const {
    return shape.batchFirst ? value.transpose({1, 0, 2}) : value;
  }

  /// This direction's part of [d, ...], a factor of products.
  prim::Tensor ownFactor(mlir::Value value) const {
    prim::Tensor all = x.wrap(value);
    return all.sliceDim(0, direction, direction + 1).reshape(all.shape().drop_front());
  }
  /// The same of what is no factor.
  prim::Tensor own(mlir::Value value) const { return widen(ownFactor(value)); }
  /// This direction's part [B, H] of a state [d, B, H], or zeros if there is none.
  prim::Tensor ownState(mlir::Value value) const {
    if (!value)
      return widen(
          x.full(mlir::RankedTensorType::get({shape.batch, shape.hidden}, x.elementType()), 0.0));
    return own(timeMajor(x.wrap(value)));
  }
  /// This direction's part [T, B, H] of y.
  prim::Tensor ownOutput(mlir::Value value) const {
    prim::Tensor y = widen(x.wrap(value));
    y = shape.batchFirst ? y.transpose({1, 2, 0, 3}) : y;
    return y.sliceDim(1, direction, direction + 1)
        .reshape({shape.steps, shape.batch, shape.hidden});
  }

  /// Step t [B, K] of [T, B, K].
  prim::Tensor step(prim::Tensor all, int64_t t) const {
    return all.sliceDim(0, t, t + 1).reshape(all.shape().drop_front());
  }
  /// [T, B, K] of T steps in time's order.
  static prim::Tensor stack(llvm::ArrayRef<prim::Tensor> steps) {
    llvm::SmallVector<prim::Tensor> rows;
    for (prim::Tensor step : steps)
      rows.push_back(step.reshape({1, step.dim(0), step.dim(1)}));
    return prim::concatenate(rows, 0);
  }
  /// Gate g [B, H] of [B, gates H].
  prim::Tensor gate(prim::Tensor gates, int64_t g) const {
    return gates.sliceDim(gates.rank() - 1, g * shape.hidden, (g + 1) * shape.hidden);
  }

  /// x w^T + bias for all steps at once, w [K, I], bias [K].
  prim::Tensor project(prim::Tensor w, std::optional<prim::Tensor> bias) const {
    prim::Tensor y = wideDotGeneral(x, w, {}, {}, {2}, {1});
    return bias ? y + bias->broadcastTo(y.shape()) : y;
  }
  /// As the factors of products are.
  prim::Tensor asFactor(prim::Tensor value) const { return value.convert(x.elementType()); }
  /// h r^T, h [B, H], r [K, H].
  prim::Tensor recur(prim::Tensor h, prim::Tensor r) const {
    return wideDotGeneral(asFactor(h), r, {}, {}, {1}, {1});
  }

  /// The result y from each direction's [T, B, H].
  prim::Tensor joinOutputs(llvm::ArrayRef<prim::Tensor> directions) const {
    llvm::SmallVector<prim::Tensor> parts;
    for (prim::Tensor part : directions)
      parts.push_back(part.reshape({shape.steps, 1, shape.batch, shape.hidden}));
    prim::Tensor y = asFactor(prim::concatenate(parts, 1));
    return shape.batchFirst ? y.transpose({2, 0, 1, 3}) : y;
  }
  /// A state [d, B, H] from each direction's [B, H].
  prim::Tensor joinStates(llvm::ArrayRef<prim::Tensor> directions) const {
    return asFactor(timeMajor(stack(directions)));
  }

private:
  prim::Tensor x;
};

/// [d, ...] from each direction's [...].
inline prim::Tensor joinDirections(llvm::ArrayRef<prim::Tensor> directions) {
  llvm::SmallVector<prim::Tensor> parts;
  for (prim::Tensor part : directions) {
    llvm::SmallVector<int64_t> shape(part.shape());
    shape.insert(shape.begin(), 1);
    parts.push_back(part.reshape(shape));
  }
  return prim::concatenate(parts, 0);
}

} // namespace accc::nn

#endif
