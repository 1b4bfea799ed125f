// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Complex.h"

#include "frontend/common/Formulas.h"
#include "frontend/common/Gradient.h"

#include "mlir/IR/BuiltinOps.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

// ---- representations ----

Complex Complex::map(llvm::function_ref<Tensor(Tensor)> linear) const {
  Tensor first = linear(real);
  return imaginary ? Complex(first, linear(*imaginary)) : Complex(first);
}

Complex Complex::ofPairs(Tensor pairs) {
  int64_t last = pairs.rank() - 1;
  auto part = [&](int64_t i) {
    return pairs.sliceDim(last, i, i + 1).reshape(pairs.shape().drop_back());
  };
  return Complex(part(0), part(1));
}

Tensor Complex::pairs() const {
  SmallVector<int64_t> shape(real.shape());
  shape.push_back(1);
  return prim::concatenate({real.reshape(shape), imaginaryOrZero().reshape(shape)}, real.rank());
}

Complex Complex::ofValue(const NodeBuilder &node, Value value) {
  if (!isComplex(value.getType()))
    return Complex(node.wrap(value));
  auto cast = value.getDefiningOp<UnrealizedConversionCastOp>();
  if (!cast || cast.getNumOperands() != 2)
    fail("complex numbers are not supported here");
  return Complex(node.wrap(cast.getOperand(0)), node.wrap(cast.getOperand(1)));
}

Value Complex::value(const NodeBuilder &node) const {
  Value other = imaginaryOrZero();
  // The parts of a complex value are that value.
  for (Operation *user : real.get().getUsers())
    if (auto cast = dyn_cast<UnrealizedConversionCastOp>(user);
        cast && cast.getOperand(0) == real.get() && cast.getOperand(1) == other)
      return cast.getResult(0);
  Type type = real.type().clone(ComplexType::get(real.elementType()));
  return node.builder()
      .create<UnrealizedConversionCastOp>(node.loc(), type, ValueRange{real, other})
      .getResult(0);
}

bool accc::frontend::isComplex(Type tensorOrElement) {
  return isa<ComplexType>(getElementTypeOrSelf(tensorOrElement));
}

Value accc::frontend::mapParts(const NodeBuilder &node, Value value,
                               llvm::function_ref<Tensor(Tensor)> linear) {
  if (!isComplex(value.getType()))
    return linear(node.wrap(value));
  return Complex::ofValue(node, value).map(linear).value(node);
}

RankedTensorType accc::frontend::pairsOf(RankedTensorType type) {
  auto complex = dyn_cast<ComplexType>(type.getElementType());
  if (!complex)
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(2);
  return RankedTensorType::get(shape, complex.getElementType());
}

Weight accc::frontend::pairsOf(const Weight &weight) {
  return {pairsOf(weight.type), weight.bytes, weight.owner};
}

Value accc::frontend::pairsOf(const NodeBuilder &node, Value value) {
  return isComplex(value.getType()) ? Complex::ofValue(node, value).pairs().get() : value;
}

// ---- arithmetic ----

Complex accc::frontend::operator+(const Complex &a, const Complex &b) {
  if (!a.imaginary || !b.imaginary)
    return Complex(a.real + b.real, a.imaginary ? a.imaginary : b.imaginary);
  return Complex(a.real + b.real, *a.imaginary + *b.imaginary);
}

Complex accc::frontend::operator*(const Complex &a, const Complex &b) {
  if (!b.imaginary)
    return a.map([&](Tensor part) { return part * b.real; });
  if (!a.imaginary)
    return b * a;
  return Complex(a.real * b.real - *a.imaginary * *b.imaginary,
                 a.real * *b.imaginary + *a.imaginary * b.real);
}

Complex accc::frontend::operator*(const Complex &a, double b) {
  return a.map([&](Tensor part) { return part * b; });
}

Complex accc::frontend::conjugate(const Complex &a) {
  return a.imaginary ? Complex(a.real, -*a.imaginary) : a;
}

Tensor accc::frontend::squaredMagnitude(const Complex &a) {
  Tensor square = a.real * a.real;
  return a.imaginary ? square + *a.imaginary * *a.imaginary : square;
}

/// Where both parts are 0.
static Tensor isZero(const Complex &a) {
  Tensor zero = prim::equal(a.real, 0.0);
  return a.imaginary ? prim::bitAnd(zero, prim::equal(*a.imaginary, 0.0)) : zero;
}

namespace {
/// A number as one whose squares neither overflow nor vanish, times a scale.
struct Scaled {
  explicit Scaled(const Complex &a)
      : scale(commonScale(a.real, a.imaginaryOrZero())),
        number(a.map([&](Tensor part) { return part / scale; })) {}

  Tensor scale;
  Complex number;
};
} // namespace

Tensor accc::frontend::magnitude(const Complex &a) {
  if (!a.imaginary)
    return prim::abs(a.real);
  Scaled scaled(a);
  Tensor square = squaredMagnitude(scaled.number), zero = isZero(a);
  return prim::select(zero, 0.0, scaled.scale * prim::sqrt(prim::select(zero, 1.0, square)));
}

Tensor accc::frontend::phase(const Complex &a) {
  if (!a.imaginary) { // pi of negative numbers; what is no number stays so
    Tensor angle = prim::select(a.real < 0.0, a.real.full(M_PI), a.real.full(0.0));
    return prim::select(prim::notEqual(a.real, a.real), a.real, angle);
  }
  const Complex number = Scaled(a).number; // the derivative has squares
  Tensor zero = isZero(a);
  return prim::select(zero, 0.0,
                      prim::atan2(prim::select(zero, 0.0, *number.imaginary),
                                  prim::select(zero, 1.0, number.real)));
}

Complex accc::frontend::polar(Tensor magnitude, Tensor phase) {
  return Complex(magnitude * prim::cos(phase), magnitude * prim::sin(phase));
}

Complex accc::frontend::reciprocal(const Complex &a) {
  if (!a.imaginary)
    return Complex(1.0 / a.real);
  Scaled scaled(a);
  const Complex &number = scaled.number;
  Tensor square = squaredMagnitude(number);
  return Complex(number.real / square / scaled.scale, -*number.imaginary / square / scaled.scale);
}

Complex accc::frontend::exp(const Complex &a) {
  Tensor magnitude = prim::exp(a.real);
  return a.imaginary ? polar(magnitude, *a.imaginary) : Complex(magnitude);
}

Complex accc::frontend::log(const Complex &a) {
  Scaled scaled(a);
  return Complex(prim::log(scaled.scale) + prim::log(squaredMagnitude(scaled.number)) * 0.5,
                 phase(a));
}

Complex accc::frontend::power(const Complex &a, double exponent) {
  if (exponent < 0)
    return reciprocal(power(a, -exponent));
  constexpr double kMostFactors = 64;
  if (exponent != std::floor(exponent) || exponent > kMostFactors)
    return polar(prim::pow(magnitude(a), exponent), phase(a) * exponent);
  if (exponent == 0)
    return Complex(zeroDependence(a.real.full(1.0), a.real));
  // The squares that the exponent is made of.
  std::optional<Complex> result;
  Complex square = a;
  for (auto rest = static_cast<uint64_t>(exponent);; square = square * square) {
    if (rest & 1)
      result = result ? *result * square : square;
    if ((rest >>= 1) == 0)
      return *result;
  }
}

// sinh(x + iy) = sinh x cos y + i cosh x sin y, and the like for cosh; those of i a for sin and
// cos.

Complex accc::frontend::sinh(const Complex &a) {
  Tensor x = a.real, y = a.imaginaryOrZero();
  return Complex(sinh(x) * prim::cos(y), cosh(x) * prim::sin(y));
}

Complex accc::frontend::cosh(const Complex &a) {
  Tensor x = a.real, y = a.imaginaryOrZero();
  return Complex(cosh(x) * prim::cos(y), sinh(x) * prim::sin(y));
}

Complex accc::frontend::sin(const Complex &a) {
  Complex turned = sinh(Complex(-a.imaginaryOrZero(), a.real));
  return Complex(*turned.imaginary, -turned.real);
}

Complex accc::frontend::cos(const Complex &a) {
  return cosh(Complex(-a.imaginaryOrZero(), a.real));
}

// (tanh x + i sin y cos y / cosh^2 x) / (tanh^2 x + cos^2 y / cosh^2 x), in which nothing overflows
// with 1 / cosh^2 x = 4 e / (1 + e)^2 for e = exp(-2 |x|).
Complex accc::frontend::tanh(const Complex &a) {
  Tensor x = a.real, y = a.imaginaryOrZero();
  Tensor t = prim::tanh(x), e = prim::exp(prim::abs(x) * -2.0);
  Tensor ratio = 4.0 * e / ((1.0 + e) * (1.0 + e));
  Tensor cosine = prim::cos(y), denominator = t * t + cosine * cosine * ratio;
  return Complex(t / denominator, prim::sin(y) * cosine * ratio / denominator);
}

Complex accc::frontend::direction(const Complex &a) {
  const Complex number = Scaled(a).number;
  Tensor length = magnitude(number);
  return number * Complex(1.0 / prim::select(isZero(a), 1.0, length));
}
