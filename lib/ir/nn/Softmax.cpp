// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Rules.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/Softmax.cpp.inc"

namespace {
template <typename Op> LogicalResult verifyDimension(Op op) {
  int64_t rank = typeOf(op.getX()).getRank(), dimension = op.getDimension();
  if (dimension < 0 || dimension >= rank)
    return op.emitOpError("dimension ") << dimension << " is outside [0, " << rank << ")";
  return success();
}
} // namespace

// ---- softmax ----

// softmax_c1
LogicalResult SoftmaxOp::verify() { return verifyDimension(*this); }

// y = e^(x - max x) / sum e^(x - max x).
LogicalResult SoftmaxOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x = widen(Tensor(builder, getLoc(), getX()));
  int64_t d = getDimension();
  SoftmaxTerms terms = softmaxTerms(x, d);
  Tensor y = terms.exps / terms.total.broadcastAlong(x.shape(), {d});
  results.push_back(y.convert(getType().getElementType()));
  return success();
}

// dx = y (dy - sum(dy y)); a masked row has y = 0, hence dx = 0.
LogicalResult SoftmaxOp::differentiate(Gradients &gradients) {
  Tensor result(gradients.builder(), getLoc(), getResult());
  Tensor y = widen(result), dy = widen(result.wrap(gradients.of(result)));
  int64_t d = getDimension();
  addNarrowed(gradients, getX(), y * (dy - sum(dy * y, {d}).broadcastAlong(y.shape(), {d})));
  return success();
}

// ---- log_softmax ----

// log_softmax_c1
LogicalResult LogSoftmaxOp::verify() { return verifyDimension(*this); }

// y = (x - max x) - log sum e^(x - max x).
LogicalResult LogSoftmaxOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x = widen(Tensor(builder, getLoc(), getX()));
  int64_t d = getDimension();
  SoftmaxTerms terms = softmaxTerms(x, d);
  Tensor shifted = x - terms.shift.broadcastAlong(x.shape(), {d});
  Tensor y = shifted - log(terms.total).broadcastAlong(x.shape(), {d});
  results.push_back(y.convert(getType().getElementType()));
  return success();
}

// dx = dy - e^y sum(dy).
LogicalResult LogSoftmaxOp::differentiate(Gradients &gradients) {
  Tensor result(gradients.builder(), getLoc(), getResult());
  Tensor y = widen(result), dy = widen(result.wrap(gradients.of(result)));
  int64_t d = getDimension();
  addNarrowed(gradients, getX(), dy - exp(y) * sum(dy, {d}).broadcastAlong(y.shape(), {d}));
  return success();
}
