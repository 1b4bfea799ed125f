// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/KernelReductions.h"

#include "ir/prim/IndexMath.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static bool walkAlike(ReduceOp a, ReduceOp b) {
  return shapeOf(a.getOperand()) == shapeOf(b.getOperand()) &&
         a.getDimensions() == b.getDimensions();
}

bool prim::isAlongRows(ReduceOp op) {
  int64_t rank = op.getOperand().getType().getRank();
  auto count = static_cast<int64_t>(op.getDimensions().size());
  return count < rank && llvm::equal(op.getDimensions(), llvm::seq<int64_t>(rank - count, rank));
}

static bool isAcrossRowsOf(ReduceOp op, ReduceOp row) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  int64_t rows = row.getType().getNumElements(), all = row.getOperand().getType().getNumElements();
  return shape.size() == 3 && op.getDimensions() == ArrayRef<int64_t>(1) &&
         shape[0] * shape[1] == rows && rows * shape[2] == all;
}

bool KernelReductions::isFull(Value value) const {
  ReduceOp row = rows.front();
  ArrayRef<int64_t> shape = shapeOf(value), space = shapeOf(row.getOperand());
  if (shape == space)
    return true;
  int64_t elements = ReferenceArray::count(space);
  return shape != shapeOf(row.getResult()) && !isColumn(value) && elements > 0 &&
         ReferenceArray::count(shape) == elements;
}

int64_t KernelReductions::stripRows() const {
  return columns.empty() ? 1 : ReduceOp(columns.front()).getOperand().getType().getDimSize(1);
}

std::optional<KernelReductions> prim::sortReductions(ArrayRef<ReduceOp> reductions) {
  KernelReductions sorted;
  if (llvm::all_of(reductions, [&](ReduceOp op) { return walkAlike(op, reductions.front()); })) {
    sorted.rows.assign(reductions.begin(), reductions.end());
    return sorted;
  }
  const ReduceOp *row = llvm::find_if(reductions, isAlongRows);
  if (row == reductions.end())
    return std::nullopt;
  for (ReduceOp op : reductions) {
    bool isRow = walkAlike(op, *row);
    if (!isRow && (!isAcrossRowsOf(op, *row) ||
                   (!sorted.columns.empty() && !walkAlike(op, sorted.columns.front()))))
      return std::nullopt;
    (isRow ? sorted.rows : sorted.columns).push_back(op);
  }
  return sorted;
}

ElementOf prim::columnOperand(ReduceOp column, ArrayRef<int64_t> space,
                              ArrayRef<AffineExpr> index) {
  Value operand = column.getOperand();
  while (auto reshape = operand.getDefiningOp<ReshapeOp>())
    operand = reshape.getOperand();
  return {operand, reshapeIndex(column.getContext(), index, space, shapeOf(operand))};
}
