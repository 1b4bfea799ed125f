// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Pieces.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The concatenation that gives `result`, if its pieces all have the shape `space`; else null. A
/// result of that shape has no pieces.
static ConcatenateOp concatenationOver(Value result, ArrayRef<int64_t> space) {
  auto concatenation = result.getDefiningOp<ConcatenateOp>();
  if (!concatenation || typeOf(result).getShape() == space ||
      llvm::any_of(concatenation.getInputs(),
                   [&](Value piece) { return typeOf(piece).getShape() != space; }))
    return nullptr;
  return concatenation;
}

ArrayRef<int64_t> prim::spaceOf(ValueRange results) {
  RankedTensorType smallest = typeOf(results.front());
  for (Value result : results)
    if (typeOf(result).getNumElements() < smallest.getNumElements())
      smallest = typeOf(result);
  return smallest.getShape();
}

bool prim::isWalkedOver(Value result, ArrayRef<int64_t> space) {
  return typeOf(result).getShape() == space || concatenationOver(result, space);
}

void prim::forEachPiece(Value result, ArrayRef<int64_t> space, ArrayRef<AffineExpr> position,
                        llvm::function_ref<void(Value, ArrayRef<AffineExpr>)> visit) {
  ConcatenateOp concatenation = concatenationOver(result, space);
  if (!concatenation)
    return visit(result, position);
  auto dimension = static_cast<size_t>(concatenation.getDimension());
  SmallVector<AffineExpr> at(position);
  for (Value piece : concatenation.getInputs()) {
    visit(piece, at);
    at[dimension] = at[dimension] + typeOf(piece).getDimSize(concatenation.getDimension());
  }
}
