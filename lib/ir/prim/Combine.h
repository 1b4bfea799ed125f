// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What reductions, scatters and ops that order elements share: the combiners with their neutral
// elements, and the orders; each as scalar code and as a value.
#ifndef ACCC_IR_PRIM_COMBINE_H
#define ACCC_IR_PRIM_COMBINE_H

#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/Prim.h"

namespace accc::prim {

/// The neutral element of `kind`, of the accumulator's type (float, integer or i1). `isUnsigned`
/// says how an integer is read if its own type does not.
mlir::TypedAttr neutralElement(ReduceKind kind, mlir::Type elementType, bool isUnsigned);

/// The neutral element as the interpreter sees it, for elements of type `elementType`.
double neutralValue(ReduceKind kind, mlir::Type elementType);

/// `a` combined with `b`, scalars or vectors: one op of `arith`.
mlir::Value emitCombiner(mlir::OpBuilder &builder, mlir::Location loc, ReduceKind kind,
                         bool isUnsigned, mlir::Value a, mlir::Value b);

/// `value`, a scalar or a vector, in the type `to`: another float type, or its own.
mlir::Value convertFloat(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                         mlir::Type to);

/// `a` combined with `b`; NaN wins for max and min. Sums and products of `integer`s wrap; null for
/// floats.
inline double combineValues(ReduceKind kind, mlir::IntegerType integer, double a, double b) {
  switch (kind) {
  case ReduceKind::sum:
    return integer ? wrapInteger(integer, integerBits(a) + integerBits(b)) : a + b;
  case ReduceKind::prod:
    return integer ? wrapInteger(integer, integerBits(a) * integerBits(b)) : a * b;
  case ReduceKind::max:
    return std::isnan(a) || a > b ? a : b;
  case ReduceKind::min:
    return std::isnan(a) || a < b ? a : b;
  case ReduceKind::all:
    return a != 0 && b != 0;
  case ReduceKind::any:
    return a != 0 || b != 0;
  }
  llvm_unreachable("unknown kind");
}

/// A strict order of elements, in which NaN goes before all numbers or after them. Of equal
/// elements, and of two NaNs, neither precedes the other.
struct ElementOrder {
  bool descending, nanFirst;

  /// The order in which the extreme of a reduction of `kind`, max or min, is the first element.
  static ElementOrder ofExtreme(ReduceKind kind) { return {kind == ReduceKind::max, true}; }
  /// The order of a sort: NaN is the greatest element.
  static ElementOrder ofSort(bool descending) { return {descending, descending}; }

  bool precedes(double a, double b) const {
    if (std::isnan(a) || std::isnan(b))
      return nanFirst ? std::isnan(a) && !std::isnan(b) : !std::isnan(a) && std::isnan(b);
    return descending ? a > b : a < b;
  }
  /// An element that precedes no other. `isUnsigned` as in neutralElement.
  mlir::TypedAttr last(mlir::Type elementType, bool isUnsigned) const;
  /// Where `a` precedes `b`, scalars or vectors of i1.
  mlir::Value emitPrecedes(mlir::OpBuilder &builder, mlir::Location loc, bool isUnsigned,
                           mlir::Value a, mlir::Value b) const;
};

} // namespace accc::prim

#endif
