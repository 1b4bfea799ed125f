// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transforms/precision/ExactReaders.h"

#include "ir/prim/Tensor.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;
using accc::transforms::ExactReaders;

ExactReaders::ExactReaders(Block &block, Type narrow) : losesSmall(narrow.isF16()) {
  for (Operation &op : llvm::reverse(block))
    for (Value result : op.getResults()) {
      Shown shown;
      for (OpOperand &use : result.getUses()) {
        Shown here = shownBy(use);
        shown = {shown.asItIs || here.asItIs, shown.inSum || here.inSum};
      }
      exact[result] = shown;
    }
}

/// Whether the use is what the result consists of, in a view, a sum, a product or a quotient.
static bool isPassedOn(OpOperand &use) {
  return llvm::TypeSwitch<Operation *, bool>(use.getOwner())
      .Case<AddOp, SubOp, NegOp, AbsOp, MulOp, DivOp, SelectOp>([](Operation *) { return true; })
      .Case(
          [](ConvertOp convert) { return isa<FloatType>(getElementTypeOrSelf(convert.getType())); })
      .Default([](Operation *op) { return isa<View>(op); });
}

ExactReaders::Shown ExactReaders::shownBy(OpOperand &use) const {
  Shown shown = {isShownBy(use, false), isShownBy(use, true)};
  if (!isPassedOn(use))
    return shown;
  Shown later = exact.lookup(use.getOwner()->getResult(0));
  if (isa<AddOp, SubOp>(use.getOwner()))
    later.asItIs = later.inSum;
  return {shown.asItIs || later.asItIs, shown.inSum || later.inSum};
}

/// Whether the comparison jumps. That something is greater than a number is where a ReLU has its
/// kink; that a sum is equal to one is the comparison of two values.
static bool jumps(CompareOp compare, unsigned operand, bool inSum) {
  std::optional<double> other = splatNumber(compare->getOperand(1 - operand));
  bool isEquality =
      compare.getDirection() == Direction::eq || compare.getDirection() == Direction::ne;
  return isEquality ? inSum || other != 0 : !other;
}

/// Whether the power is steep: for small numbers, or for all.
static bool isSteep(PowOp pow, unsigned operand, bool small) {
  constexpr double kLow = 4; // about as far off as the square of a square
  std::optional<double> exponent = splatNumber(pow.getRhs());
  return operand == 1 || !exponent || std::abs(*exponent) > kLow || (small && *exponent < 1);
}

bool ExactReaders::isShownBy(OpOperand &use, bool inSum) const {
  unsigned operand = use.getOperandNumber();
  // What may be far smaller than its error, or zero only now.
  bool isSmall = inSum || losesSmall;
  return llvm::TypeSwitch<Operation *, bool>(use.getOwner())
      .Case([&](CompareOp compare) { return jumps(compare, operand, inSum); })
      .Case<FloorOp, CeilOp, RoundEvenOp, RemOp, BitcastOp>([](Operation *) { return true; })
      .Case<ArgReduceOp, SortOp, MergeOp>([](Operation *) { return true; })
      .Case([](ConvertOp convert) {
        Type element = getElementTypeOrSelf(convert.getType());
        return isa<IntegerType>(element) && !element.isInteger(1);
      })
      .Case<ExpOp, Expm1Op, Log1pOp, SinOp, CosOp, AsinOp, AcosOp>([](Operation *) { return true; })
      .Case<LogOp, SqrtOp, RsqrtOp>([&](Operation *) { return isSmall; })
      .Case([&](DivOp) { return operand == 1 && isSmall; })
      .Case([&](PowOp pow) { return isSteep(pow, operand, isSmall); })
      .Default([](Operation *op) {
        auto fusible = dyn_cast<Fusible>(op);
        return fusible && fusible.getFusionClass() == FusionClass::Matrix; // ill-conditioned
      });
}
