// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic and functions of single elements.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"
#include "frontend/common/Formulas.h"
#include "frontend/common/Gradient.h"
#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

constexpr double kLogOfTwo = 0.69314718055994530942;

// ---- two operands ----

Entities add(Node &node) {
  takeComplexAlpha(node, "other");
  if (node.hasComplex())
    return byParts(node, add, {"self", "other"});
  auto [a, b] = operands(node, "self", "other");
  if (a.elementType().isInteger(1))
    return {prim::bitOr(a, b)};
  return {a + multiplied(node, b, "alpha")};
}
Entities sub(Node &node) {
  takeComplexAlpha(node, "other");
  if (node.hasComplex())
    return byParts(node, sub, {"self", "other"});
  auto [a, b] = operands(node, "self", "other");
  return {a - multiplied(node, b, "alpha")};
}
Entities rsub(Node &node) {
  takeComplexAlpha(node, "self");
  if (node.hasComplex())
    return byParts(node, rsub, {"self", "other"});
  auto [a, b] = operands(node, "self", "other");
  return {b - multiplied(node, a, "alpha")};
}
Entities mul(Node &node) {
  if (node.hasComplex())
    return byProducts(node, mul);
  auto [a, b] = operands(node, "self", "other");
  return {a.elementType().isInteger(1) ? prim::bitAnd(a, b) : a * b};
}

/// With the sign of the divisor.
Tensor floorRemainder(Tensor a, Tensor b) {
  Tensor remainder = prim::rem(a, b);
  Tensor differs =
      prim::bitAnd(prim::notEqual(remainder, 0.0), prim::notEqual(remainder < 0.0, b < 0.0));
  return prim::select(differs, remainder + b, remainder);
}

Entities div(Node &node) {
  if (node.isComplex("other")) {
    node.set("other", frontend::reciprocal(node.complexIn("other")).value(node));
    return mul(node);
  }
  if (node.isComplex("self"))
    return byParts(node, div);
  if (!node.has("rounding_mode")) {
    auto [a, b] = floatOperands(node, "self", "other");
    return {a / b};
  }
  auto [a, b] = operands(node, "self", "other");
  std::string mode = node.string("rounding_mode");
  if (mode == "floor")
    return {frontend::floorQuotient(a, b)};
  if (mode != "trunc")
    fail("the rounding mode '" + mode + "' is not known");
  if (!isa<FloatType>(a.elementType()))
    return {a / b};
  Tensor quotient = a / b;
  return {prim::select(quotient < 0.0, prim::ceil(quotient), prim::floor(quotient))};
}

template <Tensor (*Operator)(Tensor, Tensor)> Entities binary(Node &node) {
  auto [a, b] = operands(node, "self", "other");
  return {Operator(a, b)};
}
template <Tensor (*Operator)(Tensor, Tensor)> Entities binaryFloat(Node &node) {
  auto [a, b] = floatOperands(node, "self", "other");
  return {Operator(a, b)};
}

Entities powerIn(Node &node, Type type) {
  Tensor x = asTensor(node, "self", type);
  if (!node.isTensor("exponent")) {
    double exponent = node.number("exponent");
    if (exponent == 0)
      return {zeroDependence(x.full(1.0), x)};
    if (exponent == 1)
      return {x};
    if (exponent == 2)
      return {x * x};
    if (exponent == 3)
      return {x * x * x};
    if (exponent == -1 && isa<FloatType>(type))
      return {1.0 / x};
    if (exponent == 0.5)
      return {prim::sqrt(x)};
    if (exponent == -0.5)
      return {prim::rsqrt(x)};
  }
  auto [a, b] = node.broadcast(x, asTensor(node, "exponent", type));
  return {isa<FloatType>(type) ? prim::pow(a, b) : frontend::integerPower(a, b)};
}
Entities pow(Node &node) {
  if (node.isComplex("self") && !node.isTensor("exponent"))
    return {power(node.complexIn("self"), node.number("exponent")).value(node)};
  return powerIn(node, resultType(node, {"self", "exponent"}));
}
/// In double precision.
Entities floatPower(Node &node) { return powerIn(node, node.builder().getF64Type()); }

/// self + value tensor1 tensor2, or tensor1 / tensor2
template <bool Divides> Entities addProduct(Node &node) {
  Type type = resultType(node, {"self", "tensor1", "tensor2"});
  auto [a, b] = node.broadcast(node.in("tensor1").convert(type), node.in("tensor2").convert(type));
  Tensor product = multiplied(node, Divides ? a / b : a * b, "value");
  auto [self, rest] = node.broadcast(node.in("self").convert(type), product);
  return {self + rest};
}

/// By a complex weight, of which 0.5 in any direction is half of the way.
Complex complexLerp(const Node &node) {
  Complex start = node.complexIn("self"), end = node.complexIn("end"),
          weight = node.complexIn("weight");
  auto [first, second] = node.broadcast(start.real, end.real);
  SmallVector<int64_t> shape(node.broadcast(first, weight.real).first.shape());
  for (Complex *each : {&start, &end, &weight})
    *each = each->map(
        [&](Tensor part) { return node.broadcastTo(part.convert(first.elementType()), shape); });
  Complex change = end + start * -1.0, one(weight.real.full(1.0));
  Complex near = start + weight * change, far = end + (one + weight * -1.0) * change * -1.0;
  Tensor isNear = squaredMagnitude(weight) < 0.25;
  return Complex(prim::select(isNear, near.real, far.real),
                 prim::select(isNear, near.imaginaryOrZero(), far.imaginaryOrZero()));
}

/// The formula that is exact at both ends.
Entities lerp(Node &node) {
  if (node.isComplex("weight"))
    return {complexLerp(node).value(node)};
  if (node.hasComplex())
    return byParts(node, lerp, {"self", "end"});
  auto [a, b] = operands(node, "self", "end");
  auto [start, weight] = node.broadcast(a, asTensor(node, "weight", a.elementType()));
  Tensor end = node.broadcastTo(b, start.shape()), change = end - start;
  return {prim::select(prim::abs(weight) < 0.5, start + weight * change,
                       end - change * (1.0 - weight))};
}

/// The logarithm of base^a + base^b, of a base with this natural logarithm.
Tensor logAddPower(Tensor a, Tensor b, double logOfBase) {
  // Of two equal infinities the difference is no number.
  Tensor distance = prim::abs(prim::select(prim::equal(a, b), a.full(0.0), a - b));
  return prim::max(a, b) + prim::log1p(prim::exp(distance * -logOfBase)) / logOfBase;
}
Tensor logAddExp(Tensor a, Tensor b) { return logAddPower(a, b, 1); }
Tensor logAddExp2(Tensor a, Tensor b) { return logAddPower(a, b, kLogOfTwo); }

/// By Euclid's algorithm, in as many steps as two numbers of the type can take.
Tensor greatestDivisor(Tensor a, Tensor b) {
  if (isa<FloatType>(a.elementType()) || a.elementType().isInteger(1))
    fail("the operator takes integers");
  constexpr double kStepsOfBit = 1.45; // of two successive numbers of Fibonacci
  a = prim::abs(a);
  b = prim::abs(b);
  auto steps = static_cast<int>(std::ceil(a.elementType().getIntOrFloatBitWidth() * kStepsOfBit));
  for (int i = 0; i < steps; ++i) {
    Tensor isLeft = prim::notEqual(a, 0.0);
    Tensor rest = prim::rem(b, prim::select(isLeft, a, a.full(1.0))); // 0 where a is 0
    b = prim::select(isLeft, a, b);
    a = rest;
  }
  return b;
}
Tensor leastMultiple(Tensor a, Tensor b) {
  Tensor divisor = greatestDivisor(a, b), isZero = prim::equal(divisor, 0.0);
  Tensor multiple = a / prim::select(isZero, divisor.full(1.0), divisor) * b;
  return prim::select(isZero, 0.0, prim::abs(multiple));
}

// ---- one operand ----

template <Tensor (*Operator)(Tensor)> Entities unary(Node &node) {
  return {Operator(node.in("self"))};
}
template <Tensor (*Operator)(Tensor)> Entities unaryFloat(Node &node) {
  return {Operator(asFloat(node, node.in("self")))};
}
/// Of booleans, the boolean itself.
Entities sign(Node &node) {
  Tensor x = node.in("self");
  return {x.elementType().isInteger(1) ? x : prim::sign(x)};
}
/// Integers stay what they are.
template <Tensor (*Operator)(Tensor)> Entities rounded(Node &node) {
  Tensor x = node.in("self");
  return {isa<FloatType>(x.elementType()) ? Operator(x) : x};
}

Tensor negate(Tensor x) { return -x; }
Tensor square(Tensor x) { return x * x; }
Tensor exp2(Tensor x) { return prim::exp(x * kLogOfTwo); }
Tensor log2(Tensor x) { return prim::log(x) * 1.44269504088896340736; }
Tensor log10(Tensor x) { return prim::log(x) * 0.43429448190325182765; }
Tensor toRadians(Tensor x) { return x * (M_PI / 180); }
Tensor toDegrees(Tensor x) { return x * (180 / M_PI); }
Tensor truncate(Tensor x) { return prim::select(x < 0.0, prim::ceil(x), prim::floor(x)); }
Tensor fraction(Tensor x) { return x - truncate(x); }

Entities round(Node &node) {
  Tensor x = node.in("self");
  int64_t decimals = node.integer("decimals");
  if (!isa<FloatType>(x.elementType()))
    return {x};
  if (decimals == 0)
    return {prim::roundEven(x)};
  double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  return {decimals > 0 ? prim::roundEven(x * scale) / scale : prim::roundEven(x / scale) * scale};
}

Complex squared(const Complex &x) { return x * x; }
Complex root(const Complex &x) { return power(x, 0.5); }

/// log(x / (1 - x)), of x brought into [eps, 1 - eps] where eps is given.
Entities logit(Node &node) {
  Tensor x = asFloat(node, node.in("self"));
  if (node.has("eps")) {
    double least = node.real("eps"), most = 1 - least;
    x = prim::select(x < least, x.full(least), prim::select(x > most, x.full(most), x));
  }
  return {prim::log(x / (1.0 - x))};
}
/// sin(pi x) / (pi x)
Tensor sinc(Tensor x) {
  Tensor zero = prim::equal(x, 0.0), angle = prim::select(zero, x.full(1.0), x * M_PI);
  return prim::select(zero, x.full(1.0), prim::sin(angle) / angle);
}

// ---- choices ----

/// x brought between two tensors, of which the upper one wins where they cross. An end that x
/// equals takes half of the gradient, unless both are equal; where an end is NaN, only x has one.
Tensor between(Tensor x, Tensor low, Tensor high) {
  Tensor below = x<low, above = x> high;
  auto isNan = [](Tensor a) { return prim::notEqual(a, a); };
  Tensor y = prim::select(prim::equal(x, low), prim::max(x, low),
                          prim::select(prim::equal(x, high), prim::min(x, high), x));
  y = prim::select(prim::bitOr(above, low > high), high, y);
  y = prim::select(prim::bitAnd(below, low <= high), low, y);
  y = prim::select(prim::bitAnd(prim::equal(x, low), prim::equal(low, high)), x, y);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return prim::select(prim::bitOr(isNan(low), isNan(high)),
                      prim::select(prim::bitOr(below, above), x.full(nan), x + nan), y);
}

/// Whether any integer of this type is within a bound that is a number, which the type need not
/// hold.
bool isBeyond(Node &node, StringRef end, Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  if (node.isTensor(end) || bits >= 64)
    return false;
  int64_t least = type.isUnsignedInteger() ? 0 : llvm::minIntN(bits);
  int64_t most =
      type.isUnsignedInteger() ? static_cast<int64_t>(llvm::maxUIntN(bits)) : llvm::maxIntN(bits);
  int64_t bound = node.integer(end);
  bool isLower = end == "min";
  if (isLower ? bound > most : bound < least)
    fail("'" + end + "' is " + Twine(bound) +
         ", which is outside of the type of 'self', as for PyTorch");
  return isLower ? bound < least : bound > most;
}

Entities clampTo(Node &node) {
  SmallVector<StringRef> names = {"self"};
  for (StringRef end : {"min", "max"})
    if (node.has(end))
      names.push_back(end);
  Type type = resultType(node, names);
  Tensor x = node.in("self").convert(type);
  ArrayRef<StringRef> ends = ArrayRef(names).drop_front();
  bool areNumbers = llvm::none_of(ends, [&](StringRef end) { return node.isTensor(end); });
  if (areNumbers && isa<FloatType>(type)) {
    auto number = [&](StringRef end) -> std::optional<double> {
      return node.has(end) ? std::optional(node.number(end)) : std::nullopt;
    };
    return {frontend::clamp(x, number("min"), number("max"))};
  }
  SmallVector<int64_t> shape(x.shape());
  SmallVector<Tensor> bounds;
  llvm::erase_if(names, [&](StringRef name) {
    return name != "self" && !isa<FloatType>(type) && isBeyond(node, name, type);
  });
  ends = ArrayRef(names).drop_front();
  for (StringRef end : ends) {
    bounds.push_back(asTensor(node, end, type));
    shape = broadcastShape(shape, bounds.back().shape());
  }
  x = node.broadcastTo(x, shape);
  for (Tensor &bound : bounds)
    bound = node.broadcastTo(bound, shape);
  if (bounds.size() == 2 && isa<FloatType>(type))
    return {between(x, bounds.front(), bounds.back())};
  for (auto [end, bound] : llvm::zip_equal(ends, bounds))
    x = end == "min" ? prim::max(x, bound) : prim::min(x, bound);
  return {x};
}

Entities where(Node &node) {
  if (node.hasComplex())
    return byParts(node, where, {"self", "other"});
  auto [a, b] = operands(node, "self", "other");
  Tensor condition = node.in("condition");
  if (!condition.elementType().isInteger(1))
    condition = prim::notEqual(condition, 0.0);
  auto [c, first] = node.broadcast(condition, a);
  return {
      prim::select(node.broadcastTo(c, first.shape()), first, node.broadcastTo(b, first.shape()))};
}

Entities maskedFill(Node &node) {
  if (node.hasComplex())
    return byParts(node, maskedFill, {"self", "value"});
  Tensor x = node.in("self");
  auto [mask, data] = node.broadcast(node.in("mask"), x);
  Tensor value = asTensor(node, "value", x.elementType());
  return {prim::select(mask, node.broadcastTo(value, data.shape()), data)};
}

// ---- element types ----

/// The tensor itself where it has the type and the memory format already, unless the call asks for
/// a copy.
Entities converted(Node &node, Type type) {
  Complex x = node.complexIn("self");
  bool isSame = node.tensorType("self").getElementType() == type;
  Layout layout = node.layoutOf(x.real);
  MemoryFormat format = node.memoryFormat(MemoryFormat::Preserve);
  bool isInFormat =
      format == MemoryFormat::Preserve || (layout.isKnown() && layout.suggestedFormat() == format);
  bool isCopy = !isSame || node.boolean("copy") || (layout.isKnown() && !isInFormat);
  node.share(isCopy ? Alias::None : isInFormat ? Alias::View : Alias::MaybeView);
  node.lay(isCopy ? layout.copied(format) : layout);
  auto complex = dyn_cast<ComplexType>(type);
  if (!complex) // of a complex tensor, the real part
    return {x.real.convert(type)};
  return {x.map([&](Tensor part) { return part.convert(complex.getElementType()); }).value(node)};
}
Entities toDtype(Node &node) {
  if (!node.isTensor("self") && node.has("dtype")) // the zero of a forward-mode derivative
    return {asTensor(node, "self", node.elementType("dtype", Type()))};
  return converted(node, node.anyElementType("dtype", node.tensorType("self").getElementType()));
}
Entities toOther(Node &node) { return converted(node, node.tensorType("other").getElementType()); }

} // namespace

ArrayRef<OpRow> accc::aten::elementwiseOps() {
  static const OpRow rows[] = {
      {"add(self, other, *, alpha=1)", add},
      {"sub(self, other, *, alpha=1)", sub},
      {"subtract(self, other, *, alpha=1)", sub},
      {"rsub(self, other, alpha=1)", rsub},
      {"mul(self, other)", mul},
      {"multiply(self, other)", mul},
      {"div(self, other, *, rounding_mode=None)", div},
      {"divide(self, other, *, rounding_mode=None)", div},
      {"true_divide(self, other, rounding_mode=None)", div},
      {"floor_divide(self, other)", binary<frontend::floorQuotient>},
      {"remainder(self, other)", binary<floorRemainder>},
      {"fmod(self, other)", binary<prim::rem>},
      {"pow(self, exponent)", pow},
      {"float_power(self, exponent)", floatPower},
      {"maximum(self, other)", binary<greaterOf>},
      {"minimum(self, other)", binary<lesserOf>},
      {"max.other(self, other)", binary<greaterOf>},
      {"min.other(self, other)", binary<lesserOf>},
      {"atan2(self, other)", binaryFloat<prim::atan2>},
      {"logaddexp(self, other)", binaryFloat<logAddExp>},
      {"logaddexp2(self, other)", binaryFloat<logAddExp2>},
      {"hypot(self, other)", binaryFloat<hypot>},
      {"gcd(self, other)", binary<greatestDivisor>},
      {"lcm(self, other)", binary<leastMultiple>},
      {"addcmul(self, tensor1, tensor2, *, value=1)", addProduct<false>},
      {"addcdiv(self, tensor1, tensor2, *, value=1)", addProduct<true>},
      {"lerp(self, end, weight)", lerp},

      {"neg(self)", byParts<unary<negate>>},
      {"abs(self)", orComplex<unary<prim::abs>, magnitude>},
      {"sign(self)", sign},
      {"sgn(self)", orComplex<unary<prim::sign>, direction>},
      {"square(self)", orComplex<unary<square>, squared>},
      {"reciprocal(self)", orComplex<unaryFloat<frontend::reciprocal>, frontend::reciprocal>},
      {"exp(self)", orComplex<unaryFloat<prim::exp>, frontend::exp>},
      {"exp2(self)", unaryFloat<exp2>},
      {"special_exp2(self)", unaryFloat<exp2>},
      {"expm1(self)", unaryFloat<prim::expm1>},
      {"log(self)", orComplex<unaryFloat<prim::log>, frontend::log>},
      {"log1p(self)", unaryFloat<prim::log1p>},
      {"log2(self)", unaryFloat<log2>},
      {"log10(self)", unaryFloat<log10>},
      {"sqrt(self)", orComplex<unaryFloat<prim::sqrt>, root>},
      {"rsqrt(self)", unaryFloat<prim::rsqrt>},
      {"sin(self)", orComplex<unaryFloat<prim::sin>, frontend::sin>},
      {"cos(self)", orComplex<unaryFloat<prim::cos>, frontend::cos>},
      {"tan(self)", unaryFloat<frontend::tan>},
      {"asin(self)", unaryFloat<prim::asin>},
      {"acos(self)", unaryFloat<prim::acos>},
      {"atan(self)", unaryFloat<prim::atan>},
      {"sinh(self)", orComplex<unaryFloat<frontend::sinh>, frontend::sinh>},
      {"cosh(self)", orComplex<unaryFloat<frontend::cosh>, frontend::cosh>},
      {"asinh(self)", unaryFloat<frontend::asinh>},
      {"acosh(self)", unaryFloat<frontend::acosh>},
      {"atanh(self)", unaryFloat<frontend::atanh>},
      {"arcsin(self)", unaryFloat<prim::asin>},
      {"arccos(self)", unaryFloat<prim::acos>},
      {"arctan(self)", unaryFloat<prim::atan>},
      {"arcsinh(self)", unaryFloat<frontend::asinh>},
      {"arccosh(self)", unaryFloat<frontend::acosh>},
      {"arctanh(self)", unaryFloat<frontend::atanh>},
      {"deg2rad(self)", unaryFloat<toRadians>},
      {"rad2deg(self)", unaryFloat<toDegrees>},
      {"floor(self)", rounded<prim::floor>},
      {"ceil(self)", rounded<prim::ceil>},
      {"trunc(self)", rounded<truncate>},
      {"fix(self)", rounded<truncate>},
      {"frac(self)", unaryFloat<fraction>},
      {"round(self, *, decimals=0)", round},
      {"special_round(self, *, decimals=0)", round},
      {"logit(self, eps=None)", logit},
      {"special_logit(self, eps=None)", logit},
      {"logit_backward(grad_output, self, eps=None)", backward<logit>},
      {"sinc(self)", unaryFloat<sinc>},
      {"special_sinc(self)", unaryFloat<sinc>},
      {"special_expit(self)", unaryFloat<prim::logistic>},
      {"special_expm1(self)", unaryFloat<prim::expm1>},
      {"special_log1p(self)", unaryFloat<prim::log1p>},
      {"absolute(self)", orComplex<unary<prim::abs>, magnitude>},
      {"negative(self)", byParts<unary<negate>>},
      {"arctan2(self, other)", binaryFloat<prim::atan2>},

      {"clamp(self, min=None, max=None)", clampTo},
      {"clip(self, min=None, max=None)", clampTo},
      {"clamp_min(self, min, max=None)", clampTo},
      {"clamp_max(self, max, min=None)", clampTo},
      {"where.self(condition, self, other)", where},
      {"where.ScalarOther(condition, self, other)", where},
      {"where.ScalarSelf(condition, self, other)", where},
      {"where.Scalar(condition, self, other)", where},
      {"masked_fill(self, mask, value)", maskedFill},

      {"to.dtype(self, dtype=None, non_blocking=False, copy=False, memory_format=None)", toDtype},
      {"to.dtype_layout(self, *, dtype=None, layout=None, device=None, pin_memory=None, "
       "non_blocking=False, copy=False, memory_format=None)",
       toDtype},
      {"to.device(self, device=None, dtype=None, non_blocking=False, copy=False, "
       "memory_format=None)",
       toDtype},
      {"to.prim_Device(self, device=None, dtype=None, non_blocking=False, copy=False, "
       "memory_format=None)",
       toDtype},
      {"to.prim_dtype(self, dtype=None, non_blocking=False, copy=False, memory_format=None)",
       toDtype},
      {"to.other(self, other, non_blocking=False, copy=False, memory_format=None)", toOther},
      {"type_as(self, other, copy=False, memory_format=None)", toOther},
      {"_to_copy(self, *, dtype=None, copy=True, memory_format=None)", toDtype},
      {"to_dense(self, dtype=None, *, masked_grad=None, copy=False, memory_format=None)", toDtype},
  };
  return rows;
}
