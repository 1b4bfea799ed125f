// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Nn.h"
#include "ir/prim/Tensor.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/Activations.cpp.inc"

// ---- relu ----

LogicalResult ReluOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x(builder, getLoc(), getX());
  results.push_back(max(x, 0.0));
  return success();
}

// dx = dy where y > 0, so that only y need be kept.
LogicalResult ReluOp::differentiate(Gradients &gradients) {
  Tensor y(gradients.builder(), getLoc(), getResult());
  gradients.add(getX(), select(y > 0.0, y.wrap(gradients.of(getResult())), 0.0));
  return success();
}
