// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/Costs.h"

#include "ir/prim/ContractionSide.h"
#include "ir/prim/Cost.h"
#include "support/TensorBytes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace accc;

double Costs::ofArithmetic(Operation *contraction) const {
  double flops = flopsOf(contraction);
  if (flops == 0) // it is none
    return 0;
  auto product = dyn_cast<MatrixProduct>(contraction);
  FlopsPerByte rates = target.getFlopsPerByte(getElementTypeOrSelf(contraction->getOperand(0)),
                                              tf32 && !(product && product.getFullPrecision()));
  return flops / (product ? rates.products : rates.convolutions);
}

double Costs::ofFunctions(ArrayRef<Operation *> ops) const {
  double bytes = 0;
  for (Operation *op : ops)
    if (op->hasTrait<Expensive>())
      bytes +=
          static_cast<double>(target.getExpensiveOpBytes() *
                              cast<RankedTensorType>(op->getResult(0).getType()).getNumElements());
  return bytes;
}

/// Each operand once; of views, these.
static double bytesRead(Operation *step) {
  double bytes = 0;
  llvm::SmallSetVector<Value, 8> read(step->operand_begin(), step->operand_end());
  if (auto gemm = dyn_cast<prim::GemmOp>(step); gemm && gemm.getViews())
    for (const auto &side :
         {prim::ContractionSide::lhsOf(gemm), prim::ContractionSide::rhsOf(gemm)}) {
      read.remove(side.value);
      bytes += static_cast<double>(
          tensorBytes(cast<RankedTensorType>(side.value.getType()).clone(side.shape())));
    }
  for (Value operand : read)
    bytes += static_cast<double>(tensorBytes(operand));
  return bytes;
}

double Costs::ofStep(Operation *step) const {
  double bytes = bytesRead(step);
  for (Value result : step->getResults())
    bytes += static_cast<double>(tensorBytes(result));
  if (step->getNumRegions() == 0) {
    bytes = std::max(bytes, ofArithmetic(step));
  } else {
    SmallVector<Operation *> body;
    for (Operation &op : step->getRegion(0).front())
      body.push_back(&op);
    bytes += ofFunctions(body);
  }
  return ofLaunch() + bytes;
}

double Costs::ofSteps(const Order &order) const {
  double sum = 0;
  for (Operation *step : order.steps)
    sum += ofStep(step);
  return sum;
}
