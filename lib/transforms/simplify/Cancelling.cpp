// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reshape or transpose moves through a pointwise op only where it meets its inverse.
#include "transforms/simplify/Patterns.h"

using namespace mlir;
using namespace accc;
using namespace accc::transforms;
using namespace accc::prim;

namespace {

bool undoes(ReshapeOp outer, Operation *inner) {
  auto reshape = dyn_cast_or_null<ReshapeOp>(inner);
  return reshape && tensorType(reshape.getOperand()).getShape() == outer.getType().getShape();
}

bool undoes(TransposeOp outer, Operation *inner) {
  auto transpose = dyn_cast_or_null<TransposeOp>(inner);
  if (!transpose)
    return false;
  for (auto [to, from] : llvm::enumerate(outer.getPermutation()))
    if (transpose.getPermutation()[from] != static_cast<int64_t>(to))
      return false;
  return true;
}

// view(pointwise(inverse(a), inverse(b), splat)) is pointwise(a, b, splat).
template <typename View> LogicalResult cancelAround(View view, PatternRewriter &rewriter) {
  Operation *pointwise = view.getOperand().getDefiningOp();
  if (!isa_and_nonnull<Pointwise>(pointwise) || !pointwise->hasOneUse())
    return failure();
  bool any = false;
  for (Value operand : pointwise->getOperands()) {
    bool cancels = undoes(view, operand.getDefiningOp());
    if (!cancels && !splatNumber(operand))
      return failure();
    any |= cancels;
  }
  if (!any)
    return failure();

  ArrayRef<int64_t> shape = view.getType().getShape();
  SmallVector<Value> operands;
  for (Value operand : pointwise->getOperands()) {
    if (undoes(view, operand.getDefiningOp())) {
      operands.push_back(operand.getDefiningOp()->getOperand(0));
      continue;
    }
    DenseElementsAttr elements;
    matchPattern(operand, m_Constant(&elements));
    operands.push_back(rewriter.create<ConstantOp>(
        operand.getLoc(), elements.resizeSplat(elements.getType().clone(shape))));
  }
  OperationState state(pointwise->getLoc(), pointwise->getName());
  state.addOperands(operands);
  state.addTypes(view.getType());
  state.addAttributes(pointwise->getAttrs());
  rewriter.replaceOp(view, rewriter.create(state));
  return success();
}

} // namespace

/// A barrier that nothing reads: its effect, which keeps two of one operand apart, hides from the
/// driver that it is dead code.
static LogicalResult unreadBarrier(OptimizationBarrierOp op, PatternRewriter &rewriter) {
  if (!op->use_empty())
    return failure();
  rewriter.eraseOp(op);
  return success();
}

void transforms::populateCancellingRules(RewritePatternSet &patterns) {
  patterns.add(unreadBarrier);
  patterns.add(cancelAround<ReshapeOp>).add(cancelAround<TransposeOp>);
}
