// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/AccessAnalysis.h"

#include "ir/prim/IndexRanges.h"

using namespace mlir;
using namespace accc;

bool accc::isExpensive(Operation *op) {
  return isa<prim::ExpOp, prim::Expm1Op, prim::LogOp, prim::Log1pOp, prim::TanhOp, prim::ErfOp,
             prim::LogisticOp, prim::SinOp, prim::CosOp, prim::PowOp, prim::AsinOp, prim::AcosOp,
             prim::AtanOp, prim::Atan2Op, prim::RandomBitsOp>(op);
}

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
  Operation *op = tensor.getDefiningOp();
  if (!op || !isInside(op)) {
    leaves.insert(tensor);
    return {};
  }
  auto fusible = cast<Fusible>(op);
  switch (fusible.getFusionClass()) {
  case FusionClass::Pointwise:
    ++evaluations;
    expensiveEvaluations += isExpensive(op);
    for (Value operand : op->getOperands())
      element(operand, at);
    return {};
  case FusionClass::View:
    ++evaluations;
    expensiveEvaluations += isExpensive(op);
    fusible.emitElement(*this, at);
    return {};
  case FusionClass::Reduction:
    reductionReads.push_back({tensor, offsetOf(tensor, at)});
    return {};
  case FusionClass::Window: {
    auto window = cast<prim::ReduceWindowOp>(op);
    ReferenceArray::forEachIndex(window.getWindow(), [&](ArrayRef<int64_t> offset) {
      SmallVector<AffineExpr> from;
      for (size_t d = 0; d < offset.size(); ++d)
        from.push_back(at[d] * window.getStrides()[d] +
                       (offset[d] * window.getDilations()[d] - window.getPadLow()[d]));
      element(window.getOperand(), from);
    });
    ++evaluations;
    return {};
  }
  default:
    return {};
  }
}

AffineExpr AccessAnalysis::symbol(Value, int64_t bound, StringRef) {
  symbolBounds.push_back(bound);
  return getAffineSymbolExpr(static_cast<unsigned>(symbolBounds.size() - 1), b.getContext());
}

Value AccessAnalysis::select(ArrayRef<IndexRange>, function_ref<Value()> inside,
                             function_ref<Value()> outside) {
  inside();
  outside();
  return {};
}
