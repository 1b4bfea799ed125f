// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/RoundingErrors.h"

#include "ir/prim/Tensor.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

bool prim::passesOn(OpOperand &use) {
  return llvm::TypeSwitch<Operation *, bool>(use.getOwner())
      .Case<AddOp, SubOp, NegOp, AbsOp, MulOp, DivOp, MaxOp, MinOp, SelectOp>(
          [](Operation *) { return true; })
      .Case<SqrtOp, RsqrtOp, PowOp>([&](Operation *) { return use.getOperandNumber() == 0; })
      .Case(
          [](ConvertOp convert) { return isa<FloatType>(getElementTypeOrSelf(convert.getType())); })
      .Default([](Operation *op) {
        return isa<View, ReduceOp, CumulativeOp, ReduceWindowOp, ScatterOp>(op);
      });
}

bool prim::mayCancel(OpOperand &use) { return isa<AddOp, SubOp>(use.getOwner()); }

/// That something is greater than a number is where a ReLU has its kink; that a sum is equal to one
/// is the comparison of two values.
static bool comparesTwo(CompareOp compare, unsigned operand, bool inSum) {
  std::optional<double> other = splatNumber(compare->getOperand(1 - operand));
  bool isEquality =
      compare.getDirection() == Direction::eq || compare.getDirection() == Direction::ne;
  return isEquality ? inSum || other != 0 : !other;
}

static bool jumps(OpOperand &use, bool inSum) {
  if (!isa<FloatType>(getElementTypeOrSelf(use.get())))
    return false; // integers have no errors
  return llvm::TypeSwitch<Operation *, bool>(use.getOwner())
      .Case([&](CompareOp compare) { return comparesTwo(compare, use.getOperandNumber(), inSum); })
      .Case<FloorOp, CeilOp, RoundEvenOp, RemOp, BitcastOp>([](Operation *) { return true; })
      .Case<ArgReduceOp, SortOp, MergeOp>([](Operation *) { return true; })
      .Case([](ConvertOp convert) {
        Type element = getElementTypeOrSelf(convert.getType());
        return isa<IntegerType>(element) && !element.isInteger(1);
      })
      .Default([](Operation *) { return false; });
}

bool prim::jumps(OpOperand &use) { return ::jumps(use, /*inSum=*/false); }

bool prim::ordersTerms(Operation *op) {
  auto rounds = [&](ReduceKind kind) {
    return (kind == ReduceKind::sum || kind == ReduceKind::prod) &&
           isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ReduceOp, CumulativeOp>([&](auto combining) { return rounds(combining.getKind()); })
      .Case<LinearRecurrenceOp, LogRecurrenceOp>([](Operation *) { return true; })
      .Default([](Operation *) { return false; });
}

/// Whether the power is steep: for small numbers, or for all.
static bool isSteep(PowOp pow, unsigned operand, bool small) {
  constexpr double kLow = 4; // about as far off as the square of a square
  std::optional<double> exponent = splatNumber(pow.getRhs());
  return operand == 1 || !exponent || std::abs(*exponent) > kLow || (small && *exponent < 1);
}

bool prim::magnifiesError(OpOperand &use, RoundedOperand rounded) {
  unsigned operand = use.getOperandNumber();
  // What may be far smaller than its error, or zero only now.
  bool isSmall = rounded.inSum || rounded.losesSmall;
  if (::jumps(use, rounded.inSum))
    return true;
  return llvm::TypeSwitch<Operation *, bool>(use.getOwner())
      .Case<ExpOp, Expm1Op, LogOp, Log1pOp, SinOp, CosOp, AsinOp, AcosOp>(
          [](Operation *) { return true; })
      .Case<SqrtOp, RsqrtOp>([&](Operation *) { return isSmall; })
      .Case([&](DivOp) { return operand == 1 && isSmall; })
      .Case([&](PowOp pow) { return isSteep(pow, operand, isSmall); })
      .Default([](Operation *op) {
        auto fusible = dyn_cast<Fusible>(op);
        return fusible && fusible.getFusionClass() == FusionClass::Matrix; // ill-conditioned
      });
}
