// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise functions that are formulas over primitives.
#ifndef ACCC_FRONTEND_COMMON_FORMULAS_H
#define ACCC_FRONTEND_COMMON_FORMULAS_H

#include "ir/prim/Tensor.h"

#include <optional>

namespace accc::frontend {

prim::Tensor reciprocal(prim::Tensor x);
prim::Tensor tan(prim::Tensor x);
prim::Tensor sinh(prim::Tensor x);
prim::Tensor cosh(prim::Tensor x);
prim::Tensor asinh(prim::Tensor x);
prim::Tensor acosh(prim::Tensor x);
prim::Tensor atanh(prim::Tensor x);

/// The greater magnitude of two numbers, by which they can be divided so that their squares have a
/// place among the floats: 1 where it is 0, infinite or no number. No gradient flows to it.
prim::Tensor commonScale(prim::Tensor a, prim::Tensor b);
/// sqrt(a^2 + b^2), also where a square would overflow or vanish.
prim::Tensor hypot(prim::Tensor a, prim::Tensor b);

/// The quotient rounded towards minus infinity, as Python has it: of floats by what fmod leaves,
/// for a / b rounded may be the next integer (1.0 // 0.1 is 9).
prim::Tensor floorQuotient(prim::Tensor a, prim::Tensor b);

/// a^b of integers of two types and one shape, modulo the range of a's type, as the products of
/// these are. Of negative powers the integer part, and 0 for those of 0.
prim::Tensor integerPower(prim::Tensor a, prim::Tensor b);

/// sum^(1/p), of a sum of p-th powers: a norm, whose gradient is 0 where all is zero.
prim::Tensor rootOf(prim::Tensor sum, double p = 2);

/// (sum |x|^p)^(1/p) along dimensions; of p = 0 the number of elements that are not 0, of infinite
/// p an extreme of |x|.
prim::Tensor norm(prim::Tensor x, double p, llvm::ArrayRef<int64_t> dims);

/// x between two numbers, and the nearer of them elsewhere, where no gradient flows: not at the
/// ends, nor where x is NaN, which stays NaN.
prim::Tensor clamp(prim::Tensor x, std::optional<double> low, std::optional<double> high);

/// NaN without dimensions, whose gradient is shared evenly by the elements that are NaN.
prim::Tensor nanOf(prim::Tensor x);

} // namespace accc::frontend

#endif
