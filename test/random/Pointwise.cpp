// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic element by element: floats, integers, booleans, and conversions between them.
#include "Sketch.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A unary op of floats, and where it is smooth and moderate.
struct Unary {
  const char *name;
  double low, high;
};
constexpr Unary kUnary[] = {
    {"prim.neg", -60, 60},       {"prim.abs", -60, 60},        {"prim.exp", -6, 3},
    {"prim.expm1", -6, 3},       {"prim.log", 0, kInfinity},   {"prim.log1p", -0.9, 60},
    {"prim.sqrt", 0, kInfinity}, {"prim.rsqrt", 0, kInfinity}, {"prim.sin", -20, 20},
    {"prim.cos", -20, 20},       {"prim.asin", -1, 1},         {"prim.acos", -1, 1},
    {"prim.atan", -60, 60},      {"prim.tanh", -12, 12},       {"prim.logistic", -20, 20},
    {"prim.erf", -6, 6},         {"prim.sign", -60, 60},       {"prim.floor", -60, 60},
    {"prim.ceil", -60, 60},      {"prim.round_even", -60, 60},
};

bool unary(Sketch &s) {
  const Unary &op = kUnary[s.random.below(std::size(kUnary))];
  Value x = s.within(s.floats(), op.low, op.high);
  return bool(s.same(op.name, x));
}

/// Both operands of one type, now and then the same value twice.
std::pair<Value, Value> twoFloats(Sketch &s) {
  Value a = s.floats();
  Value b = s.random.chance(0.15) ? a : s.of(Sketch::typeOf(a));
  return s.random.chance(0.5) ? std::pair(a, b) : std::pair(b, a);
}

bool binary(Sketch &s) {
  auto [a, b] = twoFloats(s);
  StringRef name = s.random.pick(
      {"prim.add", "prim.add", "prim.sub", "prim.mul", "prim.mul", "prim.max", "prim.min"});
  return bool(s.same(name, {a, b}));
}

bool division(Sketch &s) {
  auto [a, b] = twoFloats(s);
  b = s.within(b, 0.2, kInfinity);
  if (s.random.chance(0.3))
    b = s.same("prim.neg", b);
  return bool(s.same(s.random.chance(0.8) ? "prim.div" : "prim.rem", {a, b}));
}

bool power(Sketch &s) {
  auto [a, b] = twoFloats(s);
  a = s.within(a, 0.2, kInfinity);
  if (!a)
    return false;
  b = s.random.chance(0.5) ? s.constant(Sketch::typeOf(a), s.random.pick({2.0, 3.0, 0.5, -1.0}))
                           : s.within(b, -3, 3);
  return bool(s.same("prim.pow", {a, b}));
}

bool angle(Sketch &s) {
  auto [a, b] = twoFloats(s);
  return bool(s.same("prim.atan2", {a, s.within(b, 0.2, kInfinity)}));
}

/// x op constant, and constant op x.
bool withNumber(Sketch &s) {
  Value a = s.floats();
  Value c = s.constant(Sketch::typeOf(a), s.random.pick({0.0, 1.0, -1.0, 2.0, 0.5, 3.0}));
  if (s.random.chance(0.3))
    std::swap(a, c);
  StringRef name =
      s.random.pick({"prim.add", "prim.sub", "prim.mul", "prim.max", "prim.min", "prim.div"});
  return bool(s.same(name, {a, c}));
}

prim::Direction direction(Sketch &s) { return prim::Direction(s.random.below(6)); }

Value compare(Sketch &s, Value a, Value b) {
  return s.one("prim.compare", {a, b}, s.choice<prim::DirectionAttr>("direction", direction(s)));
}

bool choice(Sketch &s) {
  auto [a, b] = twoFloats(s);
  Value predicate;
  if (s.random.chance(0.6)) {
    auto [x, y] = std::pair(s.of(Sketch::typeOf(a)), s.of(Sketch::typeOf(a)));
    predicate = compare(s, x, y);
  } else {
    predicate = s.of(s.tensor(Sketch::shapeOf(a), s.b.getI1Type()));
  }
  return bool(s.one("prim.select", {predicate, a, b}, {}, a.getType()));
}

bool comparison(Sketch &s) {
  bool ofIntegers = s.random.chance(0.3);
  Value a = ofIntegers ? s.integers() : s.floats();
  return bool(compare(s, a, s.of(Sketch::typeOf(a))));
}

bool finiteness(Sketch &s) { return bool(s.one("prim.is_finite", s.floats())); }

bool conversion(Sketch &s) {
  Value x = s.find([&](Value value) { return true; });
  if (!x)
    return false;
  SmallVector<Type> types{s.floatType(),   s.b.getI64Type(),      s.b.getI32Type(),
                          s.b.getI1Type(), s.b.getIntegerType(8), s.b.getIntegerType(8, false)};
  if (s.style.mixedTypes)
    types.append(3, s.otherFloatType());
  Type type = s.random.chance(0.4) ? s.floatType() : s.random.pick(types);
  Value y = s.one("prim.convert", x, {}, s.tensor(Sketch::shapeOf(x), type));
  if (y && type == s.otherFloatType() && s.random.chance(0.5)) // back, so that it counts
    return bool(
        s.one("prim.convert", s.same("prim.mul", {y, y}), {}, s.tensor(Sketch::shapeOf(x))));
  return bool(y);
}

bool bits(Sketch &s) {
  Value x = s.integers();
  unsigned width = Sketch::typeOf(x).getElementTypeBitWidth();
  bool isUnsigned = Sketch::typeOf(x).getElementType().isUnsignedInteger();
  return bool(s.one("prim.bitcast", x, {},
                    s.tensor(Sketch::shapeOf(x), s.b.getIntegerType(width, isUnsigned))));
}

constexpr Production kPointwise[] = {
    {"unary", 20, unary},
    {"binary", 30, binary},
    {"division", 6, division},
    {"power", 3, power},
    {"angle", 2, angle},
    {"with_number", 10, withNumber},
    {"choice", 5, choice},
    {"comparison", 3, comparison},
    {"finiteness", 1, finiteness},
    {"conversion", 6, conversion},
    {"bits", 1, bits},
};

// ---- integers and booleans ----

bool integerBinary(Sketch &s) {
  Value a = s.integers();
  Value b = s.random.chance(0.1) ? a : s.of(Sketch::typeOf(a));
  StringRef name = s.random.pick({"prim.add", "prim.sub", "prim.mul", "prim.div", "prim.rem",
                                  "prim.max", "prim.min", "prim.and", "prim.or", "prim.xor",
                                  "prim.shift_left", "prim.shift_right"});
  if (name.starts_with("prim.shift")) {
    Value few = s.constant(Sketch::typeOf(b), s.random.pick({0.0, 1.0, 2.0, 3.0}));
    b = few;
  }
  return bool(s.same(name, {a, b}));
}

bool integerUnary(Sketch &s) {
  Value a = s.integers();
  return bool(s.same(s.random.pick({"prim.neg", "prim.abs", "prim.sign", "prim.not"}), a));
}

bool logic(Sketch &s) {
  Value a = s.find([](Value v) { return Sketch::typeOf(v).getElementType().isInteger(1); });
  if (!a)
    return comparison(s);
  if (s.random.chance(0.3))
    return bool(s.same("prim.not", a));
  Value b = s.of(Sketch::typeOf(a));
  return bool(s.same(s.random.pick({"prim.and", "prim.or", "prim.xor"}), {a, b}));
}

bool iota(Sketch &s) {
  SmallVector<int64_t> shape = s.shape(1, 3);
  Type element = s.random.pick<Type>({s.floatType(), s.b.getI64Type(), s.b.getI32Type()});
  return bool(s.one("prim.iota", {},
                    s.integer("dimension", s.random.below(static_cast<int64_t>(shape.size()))),
                    s.tensor(shape, element)));
}

bool constants(Sketch &s) { return bool(s.randomConstant(s.tensor(s.shape(0, 3)))); }

constexpr Production kIntegers[] = {
    {"integer_binary", 6, integerBinary},
    {"integer_unary", 2, integerUnary},
    {"logic", 3, logic},
    {"iota", 2, iota},
    {"constants", 2, constants},
};

} // namespace

ArrayRef<Production> accc::test::pointwiseProductions() { return kPointwise; }
ArrayRef<Production> accc::test::integerProductions() { return kIntegers; }
