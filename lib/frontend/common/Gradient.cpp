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

/// What `join` makes of both parts of a value that may have a gradient and of those of `x`, of the
/// same type.
static Value joinParts(ForwardBuilder &function, Location loc, Value value, Value x,
                       Tensor (*join)(Tensor, Tensor)) {
  NodeBuilder node(function, loc);
  if (!isDifferentiable(value.getType()))
    return value;
  auto rule = [&]() -> Entities {
    if (!isComplex(value.getType()))
      return {join(node.wrap(value), node.wrap(x))};
    Complex parts = Complex::ofValue(node, value), from = Complex::ofValue(node, x);
    return {
        Complex(join(parts.real, from.real), join(parts.imaginaryOrZero(), from.imaginaryOrZero()))
            .value(node)};
  };
  return function.build(rule).front().tensor;
}

Value accc::frontend::straightThrough(ForwardBuilder &function, Location loc, Value value,
                                      Value x) {
  return joinParts(function, loc, value, x, straightThrough);
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

Value accc::frontend::zeroDependence(ForwardBuilder &function, Location loc, Value value, Value x) {
  if (dependsClosely(value, x))
    return value;
  return joinParts(function, loc, value, x, zeroDependence);
}
