// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Complex numbers while importing: two tensors of reals.
#ifndef ACCC_FRONTEND_COMMON_COMPLEX_H
#define ACCC_FRONTEND_COMMON_COMPLEX_H

#include "frontend/common/NodeBuilder.h"

namespace accc::frontend {

/// The real and the imaginary part, of one type; a real tensor has no imaginary part. Gradients of
/// the parts are those of PyTorch (the conjugate Wirtinger derivative): d loss / d real +
/// i d loss / d imaginary.
struct Complex {
  prim::Tensor real;
  std::optional<prim::Tensor> imaginary;

  explicit Complex(prim::Tensor real, std::optional<prim::Tensor> imaginary = std::nullopt)
      : real(real), imaginary(imaginary) {}

  /// The imaginary part, or zeros.
  prim::Tensor imaginaryOrZero() const { return imaginary ? *imaginary : real.full(0.0); }
  /// A function that is linear over the reals, of both parts.
  Complex map(llvm::function_ref<prim::Tensor(prim::Tensor)> linear) const;

  // As a tensor of an extent of 2 in the last dimension, [real part, imaginary part].
  static Complex ofPairs(prim::Tensor pairs);
  prim::Tensor pairs() const;

  // As a value of a complex element type, which is a cast of the parts: no op but that cast, and no
  // type of a function has such an element type. Throws ImportError for a value that is no cast.
  static Complex ofValue(const NodeBuilder &node, mlir::Value value);
  mlir::Value value(const NodeBuilder &node) const;
};

bool isComplex(mlir::Type tensorOrElement);

/// A function that is linear over the reals, of a value of any numbers.
mlir::Value mapParts(const NodeBuilder &node, mlir::Value value,
                     llvm::function_ref<prim::Tensor(prim::Tensor)> linear);

// Files hold complex numbers as pairs, and so do the arguments and results of @forward. What holds
// none is itself.
mlir::RankedTensorType pairsOf(mlir::RankedTensorType type);
Weight pairsOf(const Weight &weight);
mlir::Value pairsOf(const NodeBuilder &node, mlir::Value value);

// Operands have one shape, or no dimensions.
Complex operator+(const Complex &a, const Complex &b);
Complex operator*(const Complex &a, const Complex &b);
Complex operator*(const Complex &a, double b);
Complex conjugate(const Complex &a);
/// |a|^2
prim::Tensor squaredMagnitude(const Complex &a);
/// The gradient of both at 0 is 0.
prim::Tensor magnitude(const Complex &a);
prim::Tensor phase(const Complex &a);
Complex polar(prim::Tensor magnitude, prim::Tensor phase);
Complex reciprocal(const Complex &a);
Complex exp(const Complex &a);
/// The principal values.
Complex log(const Complex &a);
Complex power(const Complex &a, double exponent);
Complex sin(const Complex &a);
Complex cos(const Complex &a);
Complex sinh(const Complex &a);
Complex cosh(const Complex &a);
Complex tanh(const Complex &a);
/// a / |a|, and 0 of 0.
Complex direction(const Complex &a);

} // namespace accc::frontend

#endif
