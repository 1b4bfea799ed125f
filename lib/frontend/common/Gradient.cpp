// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Gradient.h"
#include "frontend/common/Complex.h"
#include "frontend/common/Fold.h"
#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

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
  NodeBuilder node(function, loc);
  if (!isDifferentiable(value.getType()))
    return value;
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
