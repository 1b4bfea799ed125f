// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Pieces.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

ArrayRef<int64_t> prim::spaceOf(ValueRange results) {
  RankedTensorType smallest = typeOf(results.front());
  for (Value result : results)
    if (typeOf(result).getNumElements() < smallest.getNumElements())
      smallest = typeOf(result);
  return smallest.getShape();
}

ConcatenateOp prim::concatenationOver(Value result, ArrayRef<int64_t> space) {
  auto concatenation = result.getDefiningOp<ConcatenateOp>();
  if (!concatenation || typeOf(result).getShape() == space ||
      llvm::any_of(concatenation.getInputs(),
                   [&](Value piece) { return typeOf(piece).getShape() != space; }))
    return nullptr;
  return concatenation;
}

void prim::forEachPiece(ConcatenateOp concatenation, ArrayRef<AffineExpr> position,
                        llvm::function_ref<void(Value, ArrayRef<AffineExpr>)> visit) {
  auto dimension = static_cast<size_t>(concatenation.getDimension());
  SmallVector<AffineExpr> at(position);
  for (Value piece : concatenation.getInputs()) {
    visit(piece, at);
    at[dimension] = at[dimension] + typeOf(piece).getDimSize(concatenation.getDimension());
  }
}
