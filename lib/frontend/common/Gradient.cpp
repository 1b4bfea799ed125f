// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Gradient.h"
#include "frontend/common/Complex.h"
#include "frontend/common/Fold.h"
#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

bool accc::frontend::isDifferentiable(Type tensor) {
  return isComplex(tensor) || isa<FloatType>(getElementTypeOrSelf(tensor));
}

Value accc::frontend::withoutGradient(ForwardBuilder &function, Location loc, Value value) {
  if (!isDifferentiable(value.getType()) || knownValue(value))
    return value;
  NodeBuilder node(function, loc);
  return function.build([&]() -> Entities { return {mapParts(node, value, detach)}; })
      .front()
      .tensor;
}

Tensor accc::frontend::withGradientIf(Tensor condition, Tensor value) {
  Tensor isKept = condition.reshape({}).broadcast(value.shape(), {});
  return prim::select(isKept, value, detach(value));
}

Tensor accc::frontend::straightThrough(Tensor value, Tensor x) {
  return x.wrap(x.getBuilder().create<nn::StraightThroughOp>(x.getLoc(), value.get(), x.get()));
}

Value accc::frontend::straightThrough(ForwardBuilder &function, Location loc, Value value,
                                      Value x) {
  if (!isDifferentiable(value.getType()))
    return value;
  NodeBuilder node(function, loc);
  auto rule = [&]() -> Entities {
    if (!isComplex(value.getType()))
      return {straightThrough(node.wrap(value), node.wrap(x))};
    Complex parts = Complex::ofValue(node, value), from = Complex::ofValue(node, x);
    return {Complex(straightThrough(parts.real, from.real),
                    straightThrough(parts.imaginaryOrZero(), from.imaginaryOrZero()))
                .value(node)};
  };
  return function.build(rule).front().tensor;
}

Tensor accc::frontend::zeroDependence(Tensor value, Tensor x) {
  if (!isDifferentiable(value.type()) || !isDifferentiable(x.type()) || knownValue(x.get()))
    return value;
  return value.wrap(
      value.getBuilder().create<nn::ZeroDependenceOp>(value.getLoc(), value.get(), x.get()));
}

/// Whether the value is computed of `x` in a few steps, by a way that has a gradient, if of zeros.
static bool dependsClosely(Value value, Value x) {
  constexpr size_t kMost = 64;
  llvm::SmallSetVector<Value, 16> seen;
  seen.insert(value);
  for (size_t i = 0; i < seen.size() && i < kMost; ++i) {
    if (seen[i] == x)
      return true;
    Operation *op = seen[i].getDefiningOp();
    if (!op || (op->hasTrait<ZeroGradient>() && !op->hasTrait<PiecewiseConstant>()))
      continue;
    for (Value operand : op->getOperands())
      if (isDifferentiable(operand.getType()))
        seen.insert(operand);
  }
  return false;
}

/// Of both parts of complex numbers, where these have them.
static Complex zeroDependence(const Complex &value, const Complex &x) {
  Tensor real = accc::frontend::zeroDependence(value.real, x.real);
  if (!x.imaginary)
    return Complex(real, value.imaginary);
  if (!value.imaginary)
    return Complex(accc::frontend::zeroDependence(real, *x.imaginary));
  return Complex(real, accc::frontend::zeroDependence(*value.imaginary, *x.imaginary));
}

Value accc::frontend::zeroDependence(ForwardBuilder &function, Location loc, Value value, Value x) {
  if (!isDifferentiable(value.getType()) || !isDifferentiable(x.getType()) ||
      dependsClosely(value, x))
    return value;
  NodeBuilder node(function, loc);
  auto rule = [&]() -> Entities {
    Complex parts = Complex::ofValue(node, value), from = Complex::ofValue(node, x);
    parts = ::zeroDependence(parts, from);
    return {isComplex(value.getType()) ? parts.value(node) : parts.real.get()};
  };
  return function.build(rule).front().tensor;
}
