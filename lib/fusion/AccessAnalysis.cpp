// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/AccessAnalysis.h"

#include "ir/prim/IndexRanges.h"

using namespace mlir;
using namespace accc;

AccessAnalysis::AccessAnalysis(MLIRContext *context, ArrayRef<int64_t> extents,
                               function_ref<bool(Operation *)> isInside)
    : b(context), extents(extents), isInside(isInside) {}

SmallVector<AffineExpr> AccessAnalysis::identity() const {
  SmallVector<AffineExpr> index;
  for (auto [i, extent] : llvm::enumerate(extents))
    index.push_back(extent == 1 ? getAffineConstantExpr(0, b.getContext())
                                : getAffineDimExpr(static_cast<unsigned>(i), b.getContext()));
  return index;
}

AffineExpr AccessAnalysis::offsetOf(Value value, ArrayRef<AffineExpr> index) const {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  AffineExpr offset = getAffineConstantExpr(0, b.getContext());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    offset = offset + index[d] * stride;
    stride *= shape[d];
  }
  return prim::simplifyIndex(offset, {extents, symbolBounds});
}

Value AccessAnalysis::element(Value tensor, ArrayRef<AffineExpr> index) {
  SmallVector<AffineExpr> at;
  for (AffineExpr e : index)
    at.push_back(prim::simplifyIndex(e, {extents, symbolBounds}));
  if (!seen.insert({tensor, AffineMap::get(64, 64, at, b.getContext())}).second)
    return {};
  nestedWindowReads += windowDepth > 1;
  Operation *op = tensor.getDefiningOp();
  if (!op || !isInside(op)) {
    leaves.insert(tensor);
    if (accesses)
      accesses->insert(offsetOf(tensor, at));
    return {};
  }
  switch (cast<Fusible>(op).getFusionClass()) {
  case FusionClass::Pointwise:
    ++evaluations;
    expensiveEvaluations += op->hasTrait<Expensive>();
    for (Value operand : op->getOperands())
      element(operand, at);
    return {};
  case FusionClass::View:
    ++evaluations;
    expensiveEvaluations += op->hasTrait<Expensive>();
    cast<View>(op).emitElement(*this, at);
    return {};
  case FusionClass::Reduction:
    reductionReads.push_back({tensor, offsetOf(tensor, at)});
    if (accesses)
      accesses->insert(reductionReads.back().offset);
    return {};
  case FusionClass::Window:
    ++evaluations;
    ++windowDepth;
    cast<Windowed>(op).emitElement(*this, at);
    --windowDepth;
    return {};
  default:
    return {};
  }
}

Value AccessAnalysis::elementOr(Value tensor, ArrayRef<AffineExpr> index, TypedAttr) {
  for (AffineExpr expression : index)
    record(expression);
  return element(tensor, index);
}

AffineExpr AccessAnalysis::symbol(Value, int64_t bound, StringRef) {
  symbolBounds.push_back(bound);
  return getAffineSymbolExpr(static_cast<unsigned>(symbolBounds.size() - 1), b.getContext());
}

void AccessAnalysis::record(AffineExpr expression) {
  if (accesses)
    accesses->insert(prim::simplifyIndex(expression, {extents, symbolBounds}));
}

Value AccessAnalysis::indexValue(AffineExpr expression, Type) {
  record(expression);
  return {};
}

Value AccessAnalysis::select(ArrayRef<IndexRange> ranges, function_ref<Value()> inside,
                             function_ref<Value()> outside) {
  for (const IndexRange &range : ranges)
    record(range.expression);
  inside();
  outside();
  return {};
}
