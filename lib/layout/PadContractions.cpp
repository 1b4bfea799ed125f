// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of matrix libraries that use tensor cores load whole vectors. Where rows begin
// anywhere they load single elements, or the library takes other kernels.
#include "ir/prim/ContractionSide.h"
#include "ir/prim/Cost.h"
#include "ir/prim/Tensor.h"
#include "layout/Passes.h"
#include "target/TargetedPass.h"

#include "llvm/Support/MathExtras.h"

namespace accc {
#define GEN_PASS_DEF_PADCONTRACTIONSPASS
#include "layout/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using namespace accc::prim;

namespace {

/// What others have padded already, by operand and type.
using Padded = DenseMap<std::pair<Value, Type>, Value>;

class Padding {
public:
  Padding(prim::DotGeneralOp op, const ContractionAlignment &alignment)
      : op(op), type(op.getType()), alignment(alignment), lhs(ContractionSide::lhsOf(op)),
        rhs(ContractionSide::rhsOf(op)) {
    addRows(lhs, padsLhs);
    addRows(rhs, padsRhs);
    padsRhs |= isOdd(rhs, rhs.free()); // the result's rows
  }

  bool isPossible() const;
  bool pays(const Target &target) const;
  void apply(Padded &padded);

private:
  bool isOdd(const ContractionSide &side, ArrayRef<int64_t> dimensions) const;
  void addRows(const ContractionSide &side, bool &padsFree);
  SmallVector<int64_t> paddedDimensions(const ContractionSide &side, bool padsFree) const;
  RankedTensorType paddedType(const ContractionSide &side, bool padsFree) const;
  ContractionSide pad(OpBuilder &builder, const ContractionSide &side, bool padsFree,
                      Padded &padded) const;

  prim::DotGeneralOp op;
  RankedTensorType type;
  ContractionAlignment alignment;
  ContractionSide lhs, rhs;
  bool padsLhs = false, padsRhs = false, padsContracted = false; // free dimensions; both sides'
};

} // namespace

/// Whether rows of these dimensions do not begin where they should.
bool Padding::isOdd(const ContractionSide &side, ArrayRef<int64_t> dimensions) const {
  int64_t extent = 1;
  for (int64_t d : dimensions)
    extent *= side.shape()[d];
  return !dimensions.empty() && extent % alignment.elements != 0;
}

/// The rows of an operand, which are its free dimensions or its contracted ones.
void Padding::addRows(const ContractionSide &side, bool &padsFree) {
  auto last = static_cast<int64_t>(side.shape().size()) - 1;
  SmallVector<int64_t> free = side.free();
  if (llvm::is_contained(free, last))
    padsFree |= isOdd(side, free);
  else if (llvm::is_contained(side.contracting, last))
    padsContracted |= isOdd(side, side.contracting);
}

SmallVector<int64_t> Padding::paddedDimensions(const ContractionSide &side, bool padsFree) const {
  SmallVector<int64_t> dimensions;
  if (padsFree)
    dimensions = side.free();
  if (padsContracted)
    llvm::append_range(dimensions, side.contracting);
  return dimensions;
}

/// Several dimensions that are walked as one cannot be padded at their end alone.
bool Padding::isPossible() const {
  bool isOne = (!padsLhs || lhs.free().size() == 1) && (!padsRhs || rhs.free().size() == 1) &&
               (!padsContracted || lhs.contracting.size() == 1);
  return isOne && (padsLhs || padsRhs || padsContracted);
}

RankedTensorType Padding::paddedType(const ContractionSide &side, bool padsFree) const {
  SmallVector<int64_t> shape(side.shape());
  for (int64_t d : paddedDimensions(side, padsFree))
    shape[d] = llvm::alignTo(shape[d], alignment.elements);
  return RankedTensorType::get(shape, getElementTypeOrSelf(side.value));
}

/// As if no kernel wrote what is padded or read what is cut, which most do.
bool Padding::pays(const Target &target) const {
  double bytes = 0;
  auto move = [&](double moved) { bytes += 2 * moved + target.getLaunchBytes(); };
  if (padsLhs || padsContracted)
    move(bytesOf(paddedType(lhs, padsLhs)));
  if (padsRhs || padsContracted)
    move(bytesOf(paddedType(rhs, padsRhs)));
  if (padsLhs || padsRhs)
    move(bytesOf(type));
  return bytes < flopsOf(op) / alignment.flopsPerByte;
}

ContractionSide Padding::pad(OpBuilder &builder, const ContractionSide &side, bool padsFree,
                             Padded &padded) const {
  RankedTensorType whole = paddedType(side, padsFree);
  if (whole == side.value.getType())
    return side;
  Value &value = padded[{side.value, whole}];
  if (!value) {
    SmallVector<int64_t> low(whole.getRank(), 0), high;
    for (auto [extent, old] : llvm::zip(whole.getShape(), side.shape()))
      high.push_back(extent - old);
    value = Tensor(builder, op->getLoc(), side.value).pad(0.0, low, high);
  }
  ContractionSide result = side;
  result.value = value;
  return result;
}

void Padding::apply(Padded &padded) {
  OpBuilder builder(op);
  ContractionSide left = pad(builder, lhs, padsLhs, padded);
  ContractionSide right = pad(builder, rhs, padsRhs, padded);
  Tensor result(builder, op->getLoc(), createContraction(builder, op, left, right));
  SmallVector<int64_t> starts(result.rank(), 0);
  if (result.type() != type)
    result = result.slice(starts, type.getShape());
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

namespace {
struct PadContractionsPass
    : TargetedPass<accc::impl::PadContractionsPassBase<PadContractionsPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    Padded padded;
    // In the function's order: what is padded for one product stands before the others.
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<prim::DotGeneralOp>())) {
      auto alignment = getTarget().getContractionAlignment(getElementTypeOrSelf(op.getLhs()),
                                                           tf32 && !op.getFullPrecision());
      if (!alignment)
        continue;
      Padding padding(op, *alignment);
      if (padding.isPossible() && padding.pays(getTarget()))
        padding.apply(padded);
    }
  }
};
} // namespace
