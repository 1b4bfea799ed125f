// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Scalar.h"

#include <charconv>

namespace accc::detail {

double floatOf(const Tensor &scalar) {
  return scalar.dtype() == DType::f64 ? scalar.item<double>() : scalar.item<float>();
}

void setFloat(Tensor &scalar, double value) {
  if (scalar.dtype() == DType::f64)
    scalar.data<double>()[0] = value;
  else
    scalar.data<float>()[0] = static_cast<float>(value);
}

template <typename Float> static std::string shortestText(Float value) {
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  return std::string(text, result.ptr);
}

std::string shortest(double value) { return shortestText(value); }
std::string shortest(float value) { return shortestText(value); }

} // namespace accc::detail
