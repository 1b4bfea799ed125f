// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic of elements, and conversion between element types.
#include "frontend/common/Formulas.h"
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Tensors.h"
#include "ir/nn/Nn.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

// ---- two operands ----

Tensor subtract(Tensor a, Tensor b) { return a - b; }
Tensor negate(Tensor a) { return -a; }

template <Tensor (*Operator)(Tensor, Tensor)> Entities binary(Node &node) {
  auto [a, b] = node.operandsInOneShape();
  return {Operator(a, b)};
}

/// The sign follows the divisor, or with fmod the dividend.
Entities mod(Node &node) {
  auto [a, b] = node.operandsInOneShape();
  Tensor remainder = prim::rem(a, b);
  if (node.integer("fmod", 0) != 0)
    return {remainder};
  Tensor differs =
      prim::bitAnd(prim::notEqual(remainder, 0.0), prim::notEqual(remainder < 0.0, b < 0.0));
  return {prim::select(differs, remainder + b, remainder)};
}

/// The one value of a known exponent, if there is one.
std::optional<double> uniformExponent(Node &node) {
  if (!node.isKnown(1) || !node.known(1).isSplat())
    return std::nullopt;
  return node.knownReals(1, "exponent").front();
}

Entities pow(Node &node) {
  Tensor x = node.in(0), y = node.in(1);
  Type type = x.elementType();
  auto exponent = uniformExponent(node);
  if (exponent && y.size() == 1 && y.rank() <= x.rank()) {
    if (*exponent == 1.0)
      return {x};
    if (*exponent == 2.0)
      return {x * x};
    if (*exponent == 3.0)
      return {x * x * x};
    if (*exponent == 0.5 && isa<FloatType>(type))
      return {prim::sqrt(x)};
  }
  bool isInteger = !isa<FloatType>(type);
  if (isInteger && !isa<FloatType>(y.elementType())) {
    auto [a, b] = node.inOneShape(x, y);
    return {frontend::integerPower(a, b)};
  }
  Type wide = isInteger ? node.builder().getF64Type() : type;
  auto [a, b] = node.inOneShape(x.convert(wide), y.convert(wide));
  return {prim::pow(a, b).convert(type)};
}

Entities bitShift(Node &node) {
  auto [a, b] = node.operandsInOneShape();
  std::string direction = node.string("direction");
  if (direction == "LEFT")
    return {node.make<prim::ShiftLeftOp>({a, b})};
  if (direction == "RIGHT")
    return {node.make<prim::ShiftRightOp>({a, b})};
  fail("the direction must be LEFT or RIGHT, not '" + direction + "'");
}

// ---- any number of operands ----

template <Tensor (*Operator)(Tensor, Tensor)> Tensor accumulate(Node &node) {
  Tensor result = node.in(0);
  for (size_t i = 1; i < node.inputs(); ++i) {
    if (node.in(i).elementType() != result.elementType())
      fail("the operands have different element types");
    auto [a, b] = node.broadcast(result, node.in(i));
    result = Operator(a, b);
  }
  return result;
}

template <Tensor (*Operator)(Tensor, Tensor)> Entities variadic(Node &node) {
  return {accumulate<Operator>(node)};
}

Entities mean(Node &node) {
  return {accumulate<prim::operator+ >(node) * (1.0 / static_cast<double>(node.inputs()))};
}

// ---- one operand ----

template <Tensor (*Operator)(Tensor)> Entities unary(Node &node) { return {Operator(node.in(0))}; }
template <Tensor (*Operator)(Tensor)> Entities unaryFloat(Node &node) {
  return {Operator(node.floatIn(0))};
}

Tensor isNan(Tensor x) { return prim::notEqual(x, x); }

Entities isInf(Node &node) {
  Tensor x = node.floatIn(0);
  bool negative = node.integer("detect_negative", 1), positive = node.integer("detect_positive", 1);
  double infinity = std::numeric_limits<double>::infinity();
  if (negative && positive)
    return {prim::equal(prim::abs(x), infinity)};
  if (negative || positive)
    return {prim::equal(x, positive ? infinity : -infinity)};
  return {node.full(x.shape(), node.builder().getI1Type(), 0)};
}

Entities clip(Node &node) {
  Tensor x = node.in(0);
  bool attributes = node.opset() < 11;
  bool hasMin = attributes ? node.hasAttribute("min") : node.has(1);
  bool hasMax = attributes ? node.hasAttribute("max") : node.has(2);
  bool known = attributes || ((!hasMin || node.isKnown(1)) && (!hasMax || node.isKnown(2)));
  if (isa<FloatType>(x.elementType()) && known) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double min = !hasMin ? -infinity : attributes ? node.real("min") : node.knownReal(1, "minimum");
    double max = !hasMax ? infinity : attributes ? node.real("max") : node.knownReal(2, "maximum");
    return {node.make<nn::ClampOp>({x}, {node.f64("min", min), node.f64("max", max)})};
  }
  if (hasMin)
    x = prim::max(x, node.broadcastTo(node.reshape(node.in(1), {}), x.shape()));
  if (hasMax)
    x = prim::min(x, node.broadcastTo(node.reshape(node.in(2), {}), x.shape()));
  // Fewer integers than the type has: what is clamped here passes no gradient either.
  if (const Rounding *found = node.importer().roundingOf(node.in(0))) {
    Rounding rounding = *found;
    rounding.isInside =
        prim::bitAnd(node.wrap(rounding.isInside), prim::equal(x, node.in(0))).get();
    node.importer().addRounding(x, rounding);
  }
  return {x};
}

// ---- element types ----

Entities cast(Node &node) {
  return {
      node.in(0).convert(elementType(node.context(), static_cast<int32_t>(node.integer("to"))))};
}
Entities castLike(Node &node) { return {node.in(0).convert(node.in(1).elementType())}; }

Entities bitCast(Node &node) {
  Tensor x = node.in(0);
  Type to = elementType(node.context(), static_cast<int32_t>(node.integer("to")));
  if (to == x.elementType())
    return {x};
  if (x.elementType().isInteger(1) || to.isInteger(1)) // a byte of 0 or 1
    return {x.convert(to)};
  return {node.make<prim::BitcastOp>({x}, {}, {x.type().clone(to)})};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::elementwiseOps() {
  static const OpRow rows[] = {
      {"Add", binary<prim::operator+ >},
      {"Sub", binary<subtract>},
      {"Mul", binary<prim::operator*>},
      {"Div", binary<prim::operator/ >},
      {"Mod", mod},
      {"Pow", pow},
      {"BitShift", bitShift},
      {"Max", variadic<prim::max>},
      {"Min", variadic<prim::min>},
      {"Sum", variadic<prim::operator+ >},
      {"Mean", mean},
      {"Neg", unary<negate>},
      {"Abs", unary<prim::abs>},
      {"Sign", unary<prim::sign>},
      {"Reciprocal", unaryFloat<frontend::reciprocal>},
      {"Exp", unaryFloat<prim::exp>},
      {"Log", unaryFloat<prim::log>},
      {"Sqrt", unaryFloat<prim::sqrt>},
      {"Erf", unaryFloat<prim::erf>},
      {"Sin", unaryFloat<prim::sin>},
      {"Cos", unaryFloat<prim::cos>},
      {"Tan", unaryFloat<frontend::tan>},
      {"Asin", unaryFloat<prim::asin>},
      {"Acos", unaryFloat<prim::acos>},
      {"Atan", unaryFloat<prim::atan>},
      {"Sinh", unaryFloat<frontend::sinh>},
      {"Cosh", unaryFloat<frontend::cosh>},
      {"Asinh", unaryFloat<frontend::asinh>},
      {"Acosh", unaryFloat<frontend::acosh>},
      {"Atanh", unaryFloat<frontend::atanh>},
      {"Floor", unaryFloat<prim::floor>},
      {"Ceil", unaryFloat<prim::ceil>},
      {"Round", unaryFloat<prim::roundEven>},
      {"IsNaN", unaryFloat<isNan>},
      {"IsInf", isInf},
      {"Clip", clip},
      {"Cast", cast},
      {"CastLike", castLike},
      {"BitCast", bitCast},
  };
  return rows;
}
