// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value with operators, so that code which emits arithmetic reads as arithmetic.

#ifndef ACCC_CODEGEN_MATH_MATHEXPR_H
#define ACCC_CODEGEN_MATH_MATHEXPR_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <type_traits>

namespace accc::codegen {

/// An SSA value (a float, integer or i1 scalar, or a vector of one) and the builder that extends
/// its program; the builder outlives it. An operator emits one op at the builder's insertion point.
/// Both operands of an operator have the same type; an arithmetic constant takes the other's type.
/// Integers are signed. Comparisons give i1 and are ordered (false on NaN), `!=` unordered.
class Expr {
public:
  Expr(mlir::ImplicitLocOpBuilder &builder, mlir::Value value) : builder(&builder), value(value) {}

  mlir::Value getValue() const { return value; }
  mlir::ImplicitLocOpBuilder &getBuilder() const { return *builder; }
  bool isFloat() const;

  /// A constant of this type, the same in all lanes. Integers are taken modulo 2^width.
  Expr constant(double c) const;
  /// The same shape over another element type.
  mlir::Type typeWith(mlir::Type element) const;

private:
  mlir::ImplicitLocOpBuilder *builder;
  mlir::Value value;
};

template <typename T>
concept Number = std::is_arithmetic_v<T>;

#define ACCC_EXPR_BINARY(OP)                                                                       \
  Expr operator OP(Expr a, Expr b);                                                                \
  inline Expr operator OP(Expr a, Number auto b) { return a OP a.constant(b); }                    \
  inline Expr operator OP(Number auto a, Expr b) { return b.constant(a) OP b; }
ACCC_EXPR_BINARY(+)
ACCC_EXPR_BINARY(-)
ACCC_EXPR_BINARY(*)
ACCC_EXPR_BINARY(/)
ACCC_EXPR_BINARY(&)
ACCC_EXPR_BINARY(|)
ACCC_EXPR_BINARY(^)
ACCC_EXPR_BINARY(<<)
ACCC_EXPR_BINARY(>>)
ACCC_EXPR_BINARY(<)
ACCC_EXPR_BINARY(<=)
ACCC_EXPR_BINARY(>)
ACCC_EXPR_BINARY(>=)
ACCC_EXPR_BINARY(==)
ACCC_EXPR_BINARY(!=)
#undef ACCC_EXPR_BINARY

Expr operator-(Expr a);

/// a * b + c, rounded once.
Expr fma(Expr a, Expr b, Expr c);
inline Expr fma(Expr a, Number auto b, Expr c) { return fma(a, a.constant(b), c); }
inline Expr fma(Expr a, Expr b, Number auto c) { return fma(a, b, a.constant(c)); }
inline Expr fma(Expr a, Number auto b, Number auto c) {
  return fma(a, a.constant(b), a.constant(c));
}

Expr abs(Expr x);
Expr sqrt(Expr x);
/// The nearest integer, ties to even.
Expr roundEven(Expr x);
/// The greatest integer that is not greater.
Expr floor(Expr x);
/// The magnitude of `x` with the sign of `sign`.
Expr copysign(Expr x, Expr sign);
/// `x`, negated where the sign bit of `sign` is set.
Expr flipSign(Expr x, Expr sign);

Expr select(Expr condition, Expr a, Expr b);
inline Expr select(Expr condition, Expr a, Number auto b) {
  return select(condition, a, a.constant(b));
}
inline Expr select(Expr condition, Number auto a, Expr b) {
  return select(condition, b.constant(a), b);
}

/// What `then` gives where any lane of `condition` is set, else `otherwise`, of the same type: a
/// branch, for what is long and rarely needed. `then` must give the other lanes what they need,
/// too.
Expr ifAny(Expr condition, llvm::function_ref<Expr()> then, Expr otherwise);

/// min(x, high) and max(x, low), which keep a NaN in `x`: one instruction on x86.
Expr atMost(Expr x, double high);
Expr atLeast(Expr x, double low);

/// c[0] + c[1] x + c[2] x^2 + ... by Horner's rule.
Expr polynomial(Expr x, llvm::ArrayRef<float> c);
Expr polynomial(Expr x, llvm::ArrayRef<double> c);

/// f32 to its bits as i32 (f64 as i64), and back.
Expr bits(Expr x);
Expr fromBits(Expr i);
/// Integer to the nearest f32.
Expr toFloat(Expr i);
/// f32 to f64 and f64 to f32; any float to f32 and f32 to any narrower float.
Expr widen(Expr x);
Expr narrow(Expr x);
Expr convert(Expr x, mlir::FloatType element);
/// The low 32 bits of an i64.
Expr low32(Expr i);

} // namespace accc::codegen

#endif // ACCC_CODEGEN_MATH_MATHEXPR_H
