// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Cost.h"

#include "ir/prim/AttentionRules.h"
#include "ir/prim/ContractionSide.h"

using namespace mlir;
using namespace accc;

static double elements(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? static_cast<double>(type.getNumElements()) : 0;
}

/// 2 y-elements times the products for each; w is [O, C / groups, kernel...].
static double convolutionFlops(Value y, Value w) {
  auto type = cast<RankedTensorType>(w.getType());
  double outputs = type.getRank() ? static_cast<double>(type.getDimSize(0)) : 1;
  return 2 * elements(y) * elements(w) / std::max(outputs, 1.0);
}

/// Scores and results, or for gradients scores again and both factors of each; a causal mask leaves
/// half.
static double attentionFlops(AttentionLike op, double products) {
  prim::AttentionExtents e(op);
  double flops = 2 * products * static_cast<double>(op.getFactorTypes()[0].getNumElements()) *
                 static_cast<double>(e.keys);
  return op.getCausal() ? flops / 2 : flops;
}

double accc::flopsOf(Operation *op) {
  if (op->getNumRegions() > 0) {
    double sum = 0;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        sum += flopsOf(&inner);
    return sum;
  }
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case([](MatrixProduct dot) {
        auto lhs = prim::ContractionSide::lhsOf(dot);
        double flops = 2 * elements(dot->getResult(0));
        for (int64_t dimension : lhs.contracting)
          flops *= static_cast<double>(lhs.shape()[dimension]);
        return flops;
      })
      .Case([](prim::ConvolutionOp c) { return convolutionFlops(c.getResult(), c.getW()); })
      .Case([](prim::ConvolutionBackwardDataOp c) { return convolutionFlops(c.getDy(), c.getW()); })
      .Case([](prim::ConvolutionBackwardWeightsOp c) {
        return convolutionFlops(c.getDy(), c.getResult());
      })
      .Case<prim::AttentionOp, prim::StridedAttentionOp>(
          [](auto attention) { return attentionFlops(attention, 2); })
      .Case<prim::AttentionBackwardOp, prim::StridedAttentionBackwardOp>(
          [](auto attention) { return attentionFlops(attention, 5); })
      .Case<prim::ReduceWindowOp, prim::ArgWindowOp>([](auto window) {
        double flops = elements(window.getResult());
        for (int64_t extent : window.getWindow())
          flops *= static_cast<double>(extent);
        return flops;
      })
      .Default([](Operation *other) {
        auto fusible = dyn_cast<Fusible>(other);
        if (!fusible || fusible.getFusionClass() == FusionClass::View ||
            other->getNumOperands() == 0)
          return 0.0;
        return std::max(elements(other->getResult(0)), elements(other->getOperand(0)));
      });
}

double accc::bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getElementType().isIntOrFloat())
    return 0;
  unsigned bits = std::max(8u, tensor.getElementType().getIntOrFloatBitWidth());
  return static_cast<double>(tensor.getNumElements()) * bits / 8;
}
