// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Rules.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;

#define GET_OP_CLASSES
#include "ir/nn/Mode.cpp.inc"

LogicalResult ByModeOp::decompose(OpBuilder &, SmallVectorImpl<Value> &results) {
  results.push_back(getTraining());
  return success();
}

void ByModeOp::getEvaluationValues(OpBuilder &, SmallVectorImpl<Value> &results) {
  results.push_back(getEvaluation());
}

LogicalResult ByModeOp::differentiate(Gradients &gradients) {
  gradients.add(getTraining(), gradients.of(getResult()));
  return success();
}
