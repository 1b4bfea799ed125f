// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Rules.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;

#define GET_OP_CLASSES
#include "ir/nn/StraightThrough.cpp.inc"

LogicalResult StraightThroughOp::decompose(OpBuilder &, SmallVectorImpl<Value> &results) {
  results.push_back(getValue());
  return success();
}

LogicalResult StraightThroughOp::differentiate(Gradients &gradients) {
  gradients.add(getX(), gradients.of(getResult()));
  return success();
}

LogicalResult ZeroDependenceOp::decompose(OpBuilder &, SmallVectorImpl<Value> &results) {
  results.push_back(getValue());
  return success();
}

/// x, which is active, gets nothing: that is a gradient of zeros.
LogicalResult ZeroDependenceOp::differentiate(Gradients &gradients) {
  gradients.add(getValue(), gradients.of(getResult()));
  return success();
}
