// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/fuse/Fuse.h"

#include "ir/prim/Prim.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace accc;

namespace {
bool staysOutside(Operation *op) {
  return isa<prim::DotGeneralOp, prim::ConvolutionOp, prim::ConvolutionBackwardDataOp,
             prim::ConvolutionBackwardWeightsOp, prim::ReshapeOp, prim::ConstantOp, prim::FusionOp>(
      op);
}

bool isSplat(Operation *op) {
  auto constant = dyn_cast_or_null<prim::ConstantOp>(op);
  return constant && constant.getValue().isSplat();
}

StringRef kindOf(Operation *op) {
  if (isa<prim::ReduceOp>(op))
    return "reduce";
  if (isa<prim::ScatterOp>(op))
    return "scatter";
  if (isa<prim::WindowScatterOp, prim::ArgWindowOp>(op))
    return "window_scatter";
  if (isa<prim::ArgReduceOp, prim::CumulativeOp, prim::SortOp>(op))
    return "scan";
  return "loop";
}

void wrap(Operation *op) {
  OpBuilder b(op);
  SmallVector<Value> inputs;
  for (Value operand : op->getOperands())
    if (!isSplat(operand.getDefiningOp()) && !llvm::is_contained(inputs, operand))
      inputs.push_back(operand);
  auto fusion = b.create<prim::FusionOp>(op->getLoc(), op->getResultTypes(), inputs, kindOf(op),
                                         op->getName().stripDialect());
  Block &body = fusion.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body.addArgument(input.getType(), input.getLoc()));
  b.setInsertionPointToEnd(&body);
  for (Value operand : op->getOperands())
    if (isSplat(operand.getDefiningOp()) && !mapping.contains(operand))
      mapping.map(operand, b.clone(*operand.getDefiningOp())->getResult(0));
  Operation *clone = b.clone(*op, mapping);
  b.create<prim::YieldOp>(op->getLoc(), clone->getResults());
  op->replaceAllUsesWith(fusion);
  op->erase();
}
} // namespace

LogicalResult accc::formFusions(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op :
         llvm::make_early_inc_range(function.getBody().front().without_terminator()))
      if (!staysOutside(&op))
        wrap(&op);
  return success();
}
