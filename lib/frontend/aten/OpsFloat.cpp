// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Signs, exponents and the special values of numbers.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"
#include "frontend/common/Gradient.h"
#include "frontend/common/Indexing.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor bitcast(const Node &node, Tensor x, Type type) {
  return node.make<prim::BitcastOp>({x}, {}, {x.type().clone(type)});
}

// ---- signs ----

/// Whether the sign is set: that of -0 is.
Tensor isNegative(const Node &node, Tensor x) {
  if (!isa<FloatType>(x.elementType()))
    return x.elementType().isInteger(1) ? prim::notEqual(x, x) : x < 0.0;
  unsigned width = x.elementType().getIntOrFloatBitWidth();
  return bitcast(node, x, node.builder().getIntegerType(width)) < 0.0;
}
Entities signBit(Node &node) { return {isNegative(node, node.in("self"))}; }

Entities copySign(Node &node) {
  auto [a, b] = floatOperands(node, "self", "other");
  Tensor size = prim::abs(a);
  return {zeroDependence(prim::select(isNegative(node, b), -size, size), b)};
}

/// 0 below 0, 1 above, and `values` at 0.
Entities heaviside(Node &node) {
  auto [x, values] = operands(node, "self", "values");
  return {prim::select(prim::equal(x, 0.0), values, (x > 0.0).convert(x.elementType()))};
}

// ---- special values ----

/// The operand that is a number where the other one is NaN. Where both are equal, each takes half
/// of the gradient.
template <Tensor (*choose)(Tensor, Tensor)> Entities ignoringNan(Node &node) {
  auto [a, b] = operands(node, "self", "other");
  Tensor chosen = choose(a, b);
  if (!isa<FloatType>(a.elementType()))
    return {chosen};
  chosen = prim::select(prim::notEqual(a, a), b, chosen);
  return {prim::select(prim::notEqual(b, b), a, chosen)};
}

/// What `test` finds of both parts of complex numbers, as one.
Entities ofParts(Node &node, function_ref<Tensor(Tensor)> test, Tensor (*join)(Tensor, Tensor)) {
  Complex x = node.complexIn("self");
  Tensor found = test(asFloat(node, x.real));
  return {x.imaginary ? join(found, test(*x.imaginary)) : found};
}

Entities isNan(Node &node) {
  return ofParts(node, [](Tensor x) { return prim::notEqual(x, x); }, prim::bitOr);
}
Entities isInf(Node &node) {
  auto isInfinite = [](Tensor x) { return prim::equal(prim::abs(x), kInfinity); };
  return ofParts(node, isInfinite, prim::bitOr);
}
template <bool isNegative> Entities isInfOfSign(Node &node) {
  return {prim::equal(asFloat(node, node.in("self")), isNegative ? -kInfinity : kInfinity)};
}
Entities isFinite(Node &node) { return ofParts(node, prim::isFinite, prim::bitAnd); }

Entities isReal(Node &node) {
  Complex x = node.complexIn("self");
  if (x.imaginary)
    return {prim::equal(*x.imaginary, 0.0)};
  return {node.full(x.real.shape(), node.builder().getI1Type(), 1)};
}

/// |self - other| <= atol + |rtol other|, and equal infinities.
Entities isClose(Node &node) {
  auto [a, b] = operands(node, "self", "other");
  Tensor close = prim::equal(a, b);
  if (node.boolean("equal_nan"))
    close = prim::bitOr(close, prim::bitAnd(prim::notEqual(a, a), prim::notEqual(b, b)));
  double relative = node.number("rtol"), absolute = node.number("atol");
  if (relative == 0 && absolute == 0)
    return {close};
  a = asFloat(node, a);
  b = asFloat(node, b);
  Tensor apart = prim::abs(a - b), allowed = prim::abs(b * relative) + absolute;
  return {prim::bitOr(close, prim::bitAnd(prim::isFinite(apart), apart <= allowed))};
}

Entities nanToNum(Node &node) {
  Tensor x = node.in("self");
  if (!isa<FloatType>(x.elementType()))
    return {x};
  APFloat largest = APFloat::getLargest(cast<FloatType>(x.elementType()).getFloatSemantics());
  bool lost = false;
  largest.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  double nan = node.has("nan") ? node.number("nan") : 0;
  double positive = node.has("posinf") ? node.number("posinf") : largest.convertToDouble();
  double negative = node.has("neginf") ? node.number("neginf") : -largest.convertToDouble();
  Tensor y = prim::select(prim::notEqual(x, x), x.full(nan), x);
  y = prim::select(prim::equal(x, kInfinity), x.full(positive), y);
  return {prim::select(prim::equal(x, -kInfinity), x.full(negative), y)};
}

// ---- exponents ----

/// self 2^other
Entities scaledByPower(Node &node) {
  Type type = resultType(node, {"self", "other"});
  if (!isa<FloatType>(type))
    type = node.forward().defaultFloat();
  auto [a, b] = node.broadcast(asTensor(node, "self", type), asTensor(node, "other", type));
  return {a * prim::pow(b.full(2.0), b)};
}

/// x = mantissa 2^exponent with a mantissa of at least 1/2 and below 1. What has none, which are
/// zero with the subnormal numbers, infinities and NaN, keeps its value and has the exponent 0.
Entities mantissaAndExponent(Node &node) {
  Tensor x = node.floatIn("self");
  if (!x.elementType().isF32() && !x.elementType().isF64())
    x = x.convert(node.builder().getF32Type());
  auto type = cast<FloatType>(x.elementType());
  const llvm::fltSemantics &format = type.getFloatSemantics();
  Type bits = node.builder().getIntegerType(type.getWidth());
  int least = APFloat::semanticsMinExponent(format); // of the normal numbers
  double fraction = APFloat::semanticsPrecision(format) - 1;
  auto shifted = [&]<typename Op>(Tensor a) { return node.make<Op>({a, a.full(fraction)}); };
  // The field is 1 for 2^least.
  Tensor field = shifted.operator()<prim::ShiftRightOp>(bitcast(node, prim::abs(x), bits));
  Tensor exponent = field + static_cast<double>(least);
  // Of the greatest numbers, 2^-exponent is none of the normal ones; four times it is.
  Tensor scale = bitcast(
      node, shifted.operator()<prim::ShiftLeftOp>(static_cast<double>(3 - least) - exponent), type);
  Tensor hasNone =
      prim::bitOr(prim::abs(x) < std::ldexp(1.0, least), prim::logicalNot(prim::isFinite(x)));
  return {prim::select(hasNone, x, x * 0.25 * scale).convert(node.in("self").elementType()),
          prim::select(hasNone, 0.0, exponent).convert(node.builder().getI32Type())};
}

/// The neighbour of self towards other: of the numbers by their bits as integers in ascending
/// order, which know subnormal ones, too.
Entities nextAfter(Node &node) {
  auto [a, b] = operands(node, "self", "other");
  if (!isa<FloatType>(a.elementType()))
    fail("the operator takes floats");
  unsigned width = a.elementType().getIntOrFloatBitWidth();
  Type bits = node.builder().getIntegerType(width);
  auto flipped = [&](Tensor x) { // of negative numbers: the sign, and then the size
    return prim::select(x < 0.0, x.full(-std::ldexp(1.0, static_cast<int>(width) - 1)) - x, x);
  };
  Tensor from = flipped(bitcast(node, a, bits)), to = flipped(bitcast(node, b, bits));
  Tensor next = prim::select(from < to, from + 1.0, from - 1.0);
  Tensor y = bitcast(node, flipped(next), a.elementType());
  y = prim::select(prim::bitAnd(prim::equal(next, 0.0), from < 0.0), -0.0, y);
  Tensor isSame = prim::equal(from, to), isNan = prim::notEqual(a, a);
  y = prim::select(isSame, b, y);
  y = prim::select(prim::bitOr(isNan, prim::notEqual(b, b)), a + b, y);
  Tensor differs = prim::bitOr(isNan, prim::logicalNot(isSame));
  return {zeroDependence(straightThrough(detach(y), prim::select(differs, a, detach(a))), b)};
}

} // namespace

ArrayRef<OpRow> accc::aten::floatOps() {
  static const OpRow rows[] = {
      {"signbit(self)", signBit},
      {"copysign(self, other)", copySign},
      {"heaviside(self, values)", heaviside},
      {"fmax(self, other)", ignoringNan<greaterOf>},
      {"fmin(self, other)", ignoringNan<lesserOf>},
      {"isnan(self)", isNan},
      {"isinf(self)", isInf},
      {"isposinf(self)", isInfOfSign<false>},
      {"isneginf(self)", isInfOfSign<true>},
      {"isfinite(self)", isFinite},
      {"isreal(self)", isReal},
      {"isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False)", isClose},
      {"nan_to_num(self, nan=None, posinf=None, neginf=None)", nanToNum},
      {"ldexp(self, other)", scaledByPower},
      {"frexp(self)", mantissaAndExponent},
      {"nextafter(self, other)", nextAfter},
  };
  return rows;
}
