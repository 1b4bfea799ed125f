// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/ptx/Numbers.h"

#include <algorithm>
#include <cfenv>

namespace accc::ptx {

uint32_t roundTo(double value, FloatFormat format, Rounding rounding, bool saturate) {
  const unsigned mantissa = format.mantissaBits, width = 1 + format.exponentBits + mantissa;
  const uint32_t infinity = ((1u << format.exponentBits) - 1) << mantissa;
  const uint32_t sign = std::signbit(value) ? 1u << (width - 1) : 0;
  if (std::isnan(value))
    return (1u << (width - 1)) - 1;
  if (value == 0)
    return sign;
  if (std::isinf(value))
    return sign | (saturate ? infinity - 1 : infinity);
  // |value| = fraction * 2^(exponent - bias), of which `scaled` is counted in units of the last
  // place.
  const int bias = (1 << (format.exponentBits - 1)) - 1;
  int exponent = std::ilogb(value);
  int unit = std::max(exponent, 1 - bias) - int(mantissa);
  double scaled = std::scalbn(std::fabs(value), -unit); // exact: below 2^(mantissa + 1)
  double whole = std::floor(scaled), rest = scaled - whole;
  bool away = rounding == Rounding::Up ? !sign : rounding == Rounding::Down ? bool(sign) : false;
  bool odd = uint64_t(whole) & 1;
  bool up = rest > 0 && away;
  if (rounding == Rounding::Nearest)
    up = rest > 0.5 || (rest == 0.5 && odd);
  else if (rounding == Rounding::NearestAway)
    up = rest >= 0.5;
  uint64_t units = uint64_t(whole) + up;
  // The leading bit adds to the exponent's field; a carry out of the mantissa does the same.
  uint64_t bits = units;
  if (exponent >= 1 - bias)
    bits += uint64_t(exponent + bias - 1) << mantissa;
  if (bits >= infinity) {
    bool toInfinity = rounding == Rounding::Nearest || rounding == Rounding::NearestAway || away;
    bits = toInfinity && !saturate ? infinity : infinity - 1;
  }
  return sign | uint32_t(bits);
}

double fmaToOdd(double a, double b, double c) {
  double product = a * b, sum = product + c;
  if (!std::isfinite(sum))
    return sum;
  double part = sum - product;
  double error = (product - (sum - part)) + (c - part); // sum + error is exact (Knuth)
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || bits & 1)
    return sum;
  // The even neighbour is not the exact value: take the odd one on the error's side.
  bool grow = (error > 0) == (sum > 0);
  return std::bit_cast<double>(grow ? bits + 1 : bits - 1);
}

float fromHalf(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16, exponent = bits >> 10 & 31, mantissa = bits & 1023;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent)
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  float magnitude = float(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

namespace {

/// Sets the processor's rounding while it lives.
class RoundingMode {
public:
  explicit RoundingMode(Rounding rounding) : before(std::fegetround()) {
    static constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD,
                                    FE_TONEAREST};
    std::fesetround(modes[unsigned(rounding)]);
  }
  ~RoundingMode() { std::fesetround(before); }

private:
  int before;
};

// Volatile operands and results keep the compiler from computing elsewhere, in another mode.
template <class T> T computeIn(Operation operation, Rounding rounding, T first, T second, T third) {
  volatile T a = first, b = second, c = third, result = 0;
  RoundingMode mode(rounding);
  switch (operation) {
  case Operation::Add:
    result = a + b;
    break;
  case Operation::Multiply:
    result = a * b;
    break;
  case Operation::Divide:
    result = a / b;
    break;
  case Operation::MultiplyAdd:
    result = std::fma(T(a), T(b), T(c));
    break;
  case Operation::SquareRoot:
    result = std::sqrt(T(a));
    break;
  }
  return canonical(T(result));
}

template <class To, class From> To convertIn(Rounding rounding, From value) {
  if (value == 0)
    return 0; // would be -0 rounded down
  volatile From from = value;
  RoundingMode mode(rounding);
  volatile To result = To(from);
  return result;
}

} // namespace

float compute(Operation operation, Rounding rounding, float a, float b, float c) {
  return computeIn(operation, rounding, a, b, c);
}
double compute(Operation operation, Rounding rounding, double a, double b, double c) {
  return computeIn(operation, rounding, a, b, c);
}
float convertToFloat(Rounding rounding, int64_t value) { return convertIn<float>(rounding, value); }
float convertToFloat(Rounding rounding, uint64_t value) {
  return convertIn<float>(rounding, value);
}
double convertToDouble(Rounding rounding, int64_t value) {
  return convertIn<double>(rounding, value);
}
double convertToDouble(Rounding rounding, uint64_t value) {
  return convertIn<double>(rounding, value);
}

double roundToInteger(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Nearest:
    return std::nearbyint(value);
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  case Rounding::NearestAway:
    return std::round(value);
  }
  return value;
}

} // namespace accc::ptx
