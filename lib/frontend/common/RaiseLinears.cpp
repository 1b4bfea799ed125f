// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products with a matrix of weights, and their bias.
#include "frontend/common/Match.h"
#include "frontend/common/Raise.h"

using namespace mlir;
using namespace accc;

namespace {

int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

/// x w, and x w^T where the weights were transposed for it.
Value raiseLinear(Operation *op, OpBuilder &builder) {
  auto matmul = dyn_cast<nn::MatmulOp>(op);
  if (!matmul || rankOf(matmul.getA()) < 2 || rankOf(matmul.getB()) != 2)
    return Value();
  Value w = matmul.getB();
  auto transpose = w.getDefiningOp<prim::TransposeOp>();
  if (transpose)
    w = transpose.getOperand();
  return builder.create<nn::LinearOp>(op->getLoc(), op->getResult(0).getType(), matmul.getA(), w,
                                      Value(), builder.getBoolAttr(!!transpose));
}

Value raiseBias(Operation *op, OpBuilder &builder) {
  if (!isa<prim::AddOp>(op))
    return Value();
  for (int side = 0; side < 2; ++side) {
    Value y = op->getOperand(side), term = op->getOperand(1 - side);
    auto linear = y.getDefiningOp<nn::LinearOp>();
    if (!linear || linear.getBias() || !y.hasOneUse() || !term.getDefiningOp<prim::BroadcastOp>())
      continue;
    if (Value bias = match::repeatedOverLeading(term, rankOf(y) - 1, builder))
      return builder.create<nn::LinearOp>(op->getLoc(), y.getType(), linear.getX(), linear.getW(),
                                          bias, linear.getTransposeWAttr());
  }
  return Value();
}

} // namespace

ArrayRef<RaiseRule> accc::raiseLinears() {
  static const RaiseRule rules[] = {raiseLinear, raiseBias};
  return rules;
}
