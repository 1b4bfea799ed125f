// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product of few rows does little with each number of its right operand: reading that operand is
// what it waits for, and libraries copy it before they read it where it does not lie as their
// kernels want it. Recurrent cells multiply by the same weights in every step; one copy made before
// serves all of them.
#include "ir/prim/ContractionSide.h"
#include "ir/prim/Tensor.h"
#include "layout/Passes.h"
#include "target/TargetedPass.h"

#include "llvm/ADT/MapVector.h"

namespace accc {
#define GEN_PASS_DEF_PACKOPERANDSPASS
#include "layout/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using namespace accc::prim;

namespace {

/// A matrix that products have as their right operand, and the dimension of it that they contract.
using Operand = std::pair<Value, int64_t>;

int64_t extent(Operand operand, bool contracted) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(operand.first.getType()).getShape();
  return shape[contracted ? operand.second : 1 - operand.second];
}

/// The right operand of a product of at most `maxRows` rows, if that is a matrix.
std::optional<Operand> operandOf(prim::DotGeneralOp op, int64_t maxRows) {
  ContractionSide lhs = ContractionSide::lhsOf(op), rhs = ContractionSide::rhsOf(op);
  if (!rhs.batch.empty() || rhs.shape().size() != 2 || rhs.contracting.size() != 1)
    return std::nullopt;
  int64_t rows = 1;
  for (int64_t d : lhs.free())
    rows *= lhs.shape()[d];
  if (rows > maxRows)
    return std::nullopt;
  return Operand(rhs.value, rhs.contracting[0]);
}

/// [panels, rows, width]
Tensor pack(OpBuilder &builder, Operand operand, int64_t width) {
  Tensor matrix(builder, operand.first.getLoc(), operand.first);
  int64_t rows = extent(operand, true), panels = extent(operand, false) / width;
  return operand.second == 0 ? matrix.reshape({rows, panels, width}).transpose({1, 0, 2})
                             : matrix.reshape({panels, width, rows}).transpose({0, 2, 1});
}

struct PackOperandsPass : TargetedPass<accc::impl::PackOperandsPassBase<PackOperandsPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    llvm::MapVector<Operand, SmallVector<prim::DotGeneralOp>> products;
    for (auto op : getOperation().getOps<prim::DotGeneralOp>())
      if (std::optional<Operand> operand =
              operandOf(op, getTarget().getMaxPackedRows(getElementTypeOrSelf(op.getLhs()))))
        products[*operand].push_back(op);
    for (auto &[key, uses] : products) {
      // What was a product itself may be another value by now.
      Operand operand{uses.front().getRhs(), key.second};
      std::optional<int64_t> width =
          getTarget().getPanelWidth(extent(operand, true), extent(operand, false), uses.size());
      if (!width)
        continue;
      OpBuilder builder(uses.front()); // the first in the function's order
      Tensor panels = pack(builder, operand, *width);
      for (prim::DotGeneralOp op : uses) {
        builder.setInsertionPoint(op);
        Tensor result(
            builder, op.getLoc(),
            createContraction(builder, op, ContractionSide::lhsOf(op), {panels.get(), {}, {1}}));
        op.replaceAllUsesWith(result.reshape(op.getType().getShape()).get());
        op.erase();
      }
    }
  }
};

} // namespace
