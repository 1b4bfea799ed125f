// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Formulas.h"

using namespace mlir;
using accc::prim::Tensor;

/// f(-x) = -f(x), of a formula that holds for x >= 0. Chosen, not multiplied by the sign, which has
/// no derivative at 0.
static Tensor odd(Tensor x, llvm::function_ref<Tensor(Tensor)> f) {
  Tensor isNegative = x < 0.0;
  Tensor y = f(accc::prim::select(isNegative, -x, x));
  return accc::prim::select(isNegative, -y, y);
}

Tensor accc::frontend::reciprocal(Tensor x) { return 1.0 / x; }
Tensor accc::frontend::tan(Tensor x) { return prim::sin(x) / prim::cos(x); }
// With s = e^x - 1: (e^x - e^-x) / 2 = (s + s / (s + 1)) / 2, exact near 0.
Tensor accc::frontend::sinh(Tensor x) {
  return odd(x, [](Tensor a) {
    Tensor s = prim::expm1(a);
    return (s + s / (s + 1.0)) * 0.5;
  });
}
Tensor accc::frontend::cosh(Tensor x) { return (prim::exp(x) + prim::exp(-x)) * 0.5; }
// log(x + sqrt(x^2 + 1)), exact near 0.
Tensor accc::frontend::asinh(Tensor x) {
  return odd(x, [](Tensor a) { return prim::log1p(a + a * a / (1.0 + prim::sqrt(a * a + 1.0))); });
}
// Two roots, for the derivative of one of a product is inf 0 at 1.
Tensor accc::frontend::acosh(Tensor x) {
  return prim::log(x + prim::sqrt(x - 1.0) * prim::sqrt(x + 1.0));
}
Tensor accc::frontend::atanh(Tensor x) { return 0.5 * (prim::log1p(x) - prim::log1p(-x)); }
