// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Quantization.h"
#include "frontend/common/Gradient.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

Quantized accc::frontend::quantize(Tensor scaled, Tensor zero, double low, double high) {
  Tensor place = prim::roundEven(scaled) + zero;
  return {prim::max(prim::min(place, high), low), prim::bitAnd(place >= low, place <= high)};
}

std::pair<double, double> accc::frontend::limitsOf(IntegerType type) {
  int bits = static_cast<int>(type.getWidth());
  if (type.isUnsigned())
    return {0.0, std::ldexp(1.0, bits) - 1};
  return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
}

Tensor accc::frontend::straightThrough(Tensor value, Tensor x, Tensor isInside) {
  Tensor passed = prim::select(isInside, x, x.full(0.0));
  return straightThrough(value, passed);
}
