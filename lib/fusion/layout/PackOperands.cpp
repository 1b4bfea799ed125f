// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product of few rows does little with each number of its right operand: reading that operand is
// what it waits for, and libraries copy it before they read it where it does not lie as their
// kernels want it. Recurrent cells multiply by the same weights in every step; one copy made before
// serves all of them.
#include "fusion/Passes.h"
#include "fusion/layout/ContractionSide.h"
#include "ir/prim/Tensor.h"
#include "support/SizeThreshold.h"

#include "llvm/ADT/MapVector.h"

namespace accc {
#define GEN_PASS_DEF_PACKOPERANDSPASS
#include "fusion/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using namespace accc::fusion;
using accc::prim::Tensor;

namespace {

/// With more rows a product is as fast without.
constexpr int64_t kMostRows = 64;
/// The copy takes as long as one or two of the products.
constexpr size_t kLeastUses = 4;
/// Less stays in the nearest cache, however it lies.
constexpr int64_t kLeastElements = sizeThreshold(1 << 14);
/// What kernels take for a panel, the best first: a few vectors of any width.
constexpr int64_t kPanelWidths[] = {64, 48, 32, 16};
/// Kernels take so many rows of a panel at a time.
constexpr int64_t kRowMultiple = 16;

/// A matrix that products have as their right operand, and the dimension of it that they contract.
using Operand = std::pair<Value, int64_t>;

int64_t extent(Operand operand, bool contracted) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(operand.first.getType()).getShape();
  return shape[contracted ? operand.second : 1 - operand.second];
}

/// The right operand of a product of few rows, if that is a matrix.
std::optional<Operand> operandOf(prim::DotGeneralOp op) {
  ContractionSide lhs = ContractionSide::lhsOf(op), rhs = ContractionSide::rhsOf(op);
  if (!rhs.batch.empty() || rhs.shape().size() != 2 || rhs.contracting.size() != 1)
    return std::nullopt;
  int64_t rows = 1;
  for (int64_t d : lhs.free())
    rows *= lhs.shape()[d];
  if (rows > kMostRows)
    return std::nullopt;
  return Operand(rhs.value, rhs.contracting[0]);
}

/// The width of the panels for an operand that is worth packing and can be.
std::optional<int64_t> panelWidth(Operand operand, size_t uses) {
  int64_t rows = extent(operand, true), columns = extent(operand, false);
  if (uses < kLeastUses || rows * columns < kLeastElements || rows % kRowMultiple)
    return std::nullopt;
  for (int64_t width : kPanelWidths)
    if (columns % width == 0 && columns > width)
      return width;
  return std::nullopt;
}

/// [panels, rows, width]
Tensor pack(OpBuilder &builder, Operand operand, int64_t width) {
  Tensor matrix(builder, operand.first.getLoc(), operand.first);
  int64_t rows = extent(operand, true), panels = extent(operand, false) / width;
  return operand.second == 0 ? matrix.reshape({rows, panels, width}).transpose({1, 0, 2})
                             : matrix.reshape({panels, width, rows}).transpose({0, 2, 1});
}

struct PackOperandsPass : accc::impl::PackOperandsPassBase<PackOperandsPass> {
  void runOnOperation() override {
    llvm::MapVector<Operand, SmallVector<prim::DotGeneralOp>> products;
    for (auto op : getOperation().getOps<prim::DotGeneralOp>())
      if (std::optional<Operand> operand = operandOf(op))
        products[*operand].push_back(op);
    for (auto &[operand, uses] : products) {
      std::optional<int64_t> width = panelWidth(operand, uses.size());
      if (!width)
        continue;
      OpBuilder builder(uses.front()); // the first in the function's order
      Tensor panels = pack(builder, operand, *width);
      for (prim::DotGeneralOp op : uses) {
        builder.setInsertionPoint(op);
        Tensor result(builder, op.getLoc(),
                      createContraction(builder, op.getLoc(), ContractionSide::lhsOf(op),
                                        {panels.get(), {}, {1}}));
        op.replaceAllUsesWith(result.reshape(op.getType().getShape()).get());
        op.erase();
      }
    }
  }
};

} // namespace
