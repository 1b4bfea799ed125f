// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Noise.h"

#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/Prim.h"
#include "ir/prim/RoundingErrors.h"
#include "reference/interpreter/Interpreter.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

/// An f64 is taken to have 48 bits of precision: what the interpreter computes in f64 shows by its
/// last bits that it was rounded, and an error can be rounded away.
constexpr int kDoublePrecision = 48;

double roundedTo(Type element, double value) {
  if (!element.isF64() || !std::isfinite(value))
    return roundToElement(element, value);
  int exponent = 0;
  double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, kDoublePrecision)),
                    exponent - kDoublePrecision);
}

/// Half a unit in the last place of 1 of what is computed with; 0 for what is exact, or as good as.
double unitRoundoff(Type element, bool roundsHalf) {
  if (element.isF32() || (roundsHalf && (element.isF16() || element.isBF16())))
    return 0x1p-24;
  if (element.isF64())
    return std::ldexp(1, -kDoublePrecision);
  if (element.isF16())
    return 0x1p-11;
  return element.isBF16() ? 0x1p-8 : 0;
}

/// What the element type can hold is left as it is: an operation whose result is exact has no
/// rounding error. So that later ones can be exact (the maximum of some numbers is one of them, and
/// compares equal to it) a value with an error is rounded to the element type again.
void addNoise(ReferenceArray &array, Type element, Random &random, double units, bool roundsHalf) {
  double roundoff = unitRoundoff(element, roundsHalf);
  if (roundoff == 0)
    return;
  for (double &value : array.values) {
    if (std::isfinite(value) && roundedTo(element, value) != value)
      value = roundedTo(element, value * (1 + units * roundoff * random.real(-1, 1)));
    if (element.isF32() && std::abs(value) < std::numeric_limits<float>::min())
      value = 0; // sessions flush subnormals
  }
}

/// Sums or products of many terms, whose result may be smaller than their terms. A maximum and its
/// like is one of its terms, without an error.
bool accumulates(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<prim::ReduceOp, prim::ReduceWindowOp, prim::CumulativeOp>([](auto reduction) {
        return reduction.getKind() == prim::ReduceKind::sum ||
               reduction.getKind() == prim::ReduceKind::prod;
      })
      .Case([](prim::ScatterOp scatter) {
        return scatter.getKind() == prim::ScatterKind::add ||
               scatter.getKind() == prim::ScatterKind::mul;
      })
      .Case([](prim::WindowScatterOp) { return true; })
      .Default([](Operation *op) { return isa<MatrixProduct, ConvolutionLike>(op); });
}

/// Noise in the terms, more where there are many: errors of partial sums add up.
void addTermNoise(ReferenceArray &array, double roundoff, Random &random, double units) {
  for (double &value : array.values)
    if (std::isfinite(value) && value != std::nearbyint(value)) // sums of integers are exact
      value *= 1 + units * roundoff * random.real(-1, 1);
}

/// Whether mixed precision rounds its factors.
bool takesRounded(Operation *op) {
  auto product = dyn_cast<prim::DotGeneralOp>(op);
  return getElementTypeOrSelf(op->getOperand(0)).isF32() &&
         !(product && product.getFullPrecision()) &&
         isa<prim::DotGeneralOp, ConvolutionLike, AttentionLike>(op);
}

bool multiplies(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<prim::ReduceOp, prim::ReduceWindowOp, prim::CumulativeOp>(
          [](auto product) { return product.getKind() == prim::ReduceKind::prod; })
      .Case([](prim::ScatterOp scatter) { return scatter.getKind() == prim::ScatterKind::mul; })
      .Default(false);
}

/// In some order a partial product may overflow, though the product does not: infinity times a
/// factor of zero is no number then. The greatest partial product is that of the factors above one.
LogicalResult addOverflow(Evaluable op, ArrayRef<ReferenceArray> operands, ReferenceArray &result) {
  auto elementOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  };
  Type element = elementOf(op->getResult(0));
  if (!isa<FloatType>(element))
    return success();
  SmallVector<ReferenceArray> factors(operands), greatest;
  for (auto [operand, array] : llvm::zip_equal(op->getOperands(), factors))
    if (isa<FloatType>(elementOf(operand)))
      for (double &value : array.values)
        value = std::max(std::abs(value), 1.0);
  if (failed(op.evaluate(factors, greatest)))
    return failure();
  for (auto [value, bound] : llvm::zip_equal(result.values, greatest.front().values))
    if (!std::isfinite(roundToElement(element, bound)))
      value = std::numeric_limits<double>::quiet_NaN();
  return success();
}

} // namespace

LogicalResult accc::test::interpretWithNoise(func::FuncOp function,
                                             ArrayRef<ReferenceArray> arguments,
                                             SmallVectorImpl<ReferenceArray> &results,
                                             Random &random, const NoiseOptions &options) {
  const auto [units, roundsHalf, factors] = options;
  DenseMap<Value, ReferenceArray> values;
  for (auto [argument, array] : llvm::zip_equal(function.getArguments(), arguments))
    values[argument] = array;
  for (Operation &op : function.front().without_terminator()) {
    auto evaluable = dyn_cast<Evaluable>(op);
    if (!evaluable)
      return op.emitOpError("is no primitive");
    SmallVector<ReferenceArray> operands, outputs;
    for (Value operand : op.getOperands()) {
      operands.push_back(values[operand]);
      if (factors && takesRounded(&op))
        for (double &value : operands.back().values)
          value = roundToElement(factors, value);
      // A library rounds the weights of an attention to the type of its operands.
      if (isa<AttentionLike>(op))
        addTermNoise(operands.back(), unitRoundoff(getElementTypeOrSelf(operand), false), random,
                     1);
      if (accumulates(&op)) {
        double terms =
            static_cast<double>(operands.back().size()) /
            std::max<double>(
                1, static_cast<double>(
                       cast<RankedTensorType>(op.getResult(0).getType()).getNumElements()));
        addTermNoise(operands.back(), unitRoundoff(getElementTypeOrSelf(operand), roundsHalf),
                     random, units * std::pow(std::max(terms, 1.0), 0.25));
      }
    }
    if (failed(evaluable.evaluate(operands, outputs)) ||
        (multiplies(&op) && failed(addOverflow(evaluable, operands, outputs.front()))))
      return failure();
    bool isView = isa<View>(op);
    for (auto [result, array] : llvm::zip_equal(op.getResults(), outputs)) {
      if (!isView)
        addNoise(array, cast<RankedTensorType>(result.getType()).getElementType(), random, units,
                 roundsHalf);
      values[result] = std::move(array);
    }
  }
  for (Value result : function.front().getTerminator()->getOperands())
    results.push_back(values[result]);
  return success();
}

LogicalResult accc::test::interpretInOtherOrders(func::FuncOp function,
                                                 ArrayRef<ReferenceArray> arguments,
                                                 SmallVectorImpl<ReferenceArray> &results,
                                                 Random &random, const NoiseOptions &options) {
  return interpretChanged(
      function, arguments, results, [&](Operation &op, MutableArrayRef<ReferenceArray> values) {
        if (prim::ordersTerms(&op))
          addNoise(values.front(), getElementTypeOrSelf(op.getResult(0).getType()), random,
                   options.units, options.roundsHalf);
        if (options.roundsHalf)
          roundHalves(op, values);
      });
}
