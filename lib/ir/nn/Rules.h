// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the rules of several families share: numpy's broadcasting and its transpose, channels,
// precision, functions of single elements.
#ifndef ACCC_IR_NN_RULES_H
#define ACCC_IR_NN_RULES_H

#include "ir/nn/Nn.h"
#include "ir/prim/Infer.h"
#include "ir/prim/Tensor.h"

namespace accc::nn {

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return typeOf(value).getShape(); }

/// [first, end).
llvm::SmallVector<int64_t> dimensionRange(int64_t first, int64_t end);
/// All dimensions of a tensor of this rank but one.
llvm::SmallVector<int64_t> allBut(int64_t rank, int64_t dimension);

/// True if a tensor of shape `from` can be repeated to exactly the shape `to` by numpy's rule.
bool broadcastsTo(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

/// The transpose of `Tensor::broadcastTo`: sums x over what repeating `shape` to x's shape
/// repeated.
prim::Tensor sumTo(prim::Tensor x, llvm::ArrayRef<int64_t> shape);

/// A vector with one element for each channel, repeated to a shape [N, C, ...].
prim::Tensor alongChannels(prim::Tensor vector, llvm::ArrayRef<int64_t> shape);

/// A constant of the given shape and row-major values, of the element type and beside `like`.
prim::Tensor constantLike(prim::Tensor like, llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<double> values);

/// Adds a cotangent computed in widened precision.
inline void addNarrowed(Gradients &gradients, mlir::Value operand, prim::Tensor cotangent) {
  gradients.add(operand, cotangent.convert(typeOf(operand).getElementType()));
}

/// The shared part of softmax, log_softmax and cross_entropy along one dimension, which disappears
/// from `shift` and `total`: shift = max x, exps = e^(x - shift), total = sum exps. A row of -inf,
/// where everything is masked, has shift 0, exps 0 and total 1, so that nothing becomes NaN.
struct SoftmaxTerms {
  prim::Tensor shift, exps, total;
};
SoftmaxTerms softmaxTerms(prim::Tensor x, int64_t dimension);

// ---- functions of single elements ----

/// y = rule(x), of an op with one operand `x`.
template <typename Op, typename Rule>
mlir::LogicalResult define(Op op, mlir::OpBuilder &builder,
                           llvm::SmallVectorImpl<mlir::Value> &results, Rule rule) {
  results.push_back(rule(prim::Tensor(builder, op.getLoc(), op.getX())));
  return mlir::success();
}

/// The same, computed in double precision whatever the type of x.
template <typename Op, typename Rule>
mlir::LogicalResult defineInDouble(Op op, mlir::OpBuilder &builder,
                                   llvm::SmallVectorImpl<mlir::Value> &results, Rule rule) {
  return define(op, builder, results, [&](prim::Tensor x) {
    return rule(x.convert(builder.getF64Type())).convert(x.elementType());
  });
}

/// dx = rule(x, y, dy).
template <typename Op, typename Rule>
mlir::LogicalResult pullBack(Op op, Gradients &gradients, Rule rule) {
  prim::Tensor x(gradients.builder(), op.getLoc(), op.getX());
  prim::Tensor y = x.wrap(op.getResult());
  gradients.add(op.getX(), rule(x, y, y.wrap(gradients.of(y))));
  return mlir::success();
}

/// coefficients[0] + coefficients[1] x + coefficients[2] x^2 + ..., by Horner's rule.
prim::Tensor polynomial(prim::Tensor x, llvm::ArrayRef<double> coefficients);

} // namespace accc::nn

#endif
