// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an element rule may ask of whoever evaluates it.
#ifndef ACCC_IR_INTERFACES_ELEMENTEMITTER_H
#define ACCC_IR_INTERFACES_ELEMENTEMITTER_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

namespace accc {

/// One bound check: low <= expression < high.
struct IndexRange {
  mlir::AffineExpr expression;
  int64_t low, high;
};

/// Gives element rules the elements they are made of. Codegen implements it by emitting loads and
/// arithmetic on scalars or short vectors; fusion implements it to learn which elements an op
/// reads, emitting nothing (all values are then null, and rules must not look into them).
///
/// Indices are affine expressions over the kernel's loop variables (dimensions) and over integers
/// read at run time (symbols). "An element" is a scalar, or a vector of elements for consecutive
/// values of the innermost loop variable; rules are the same for both.
class ElementEmitter {
public:
  virtual ~ElementEmitter() = default;

  virtual mlir::OpBuilder &builder() = 0;

  /// The element of `tensor` at `index`, which has one expression for each dimension of the tensor.
  virtual mlir::Value element(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> index) = 0;

  /// The element of `tensor` at `index`, or `outside` where the index lies outside of the tensor.
  virtual mlir::Value elementOr(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> index,
                                mlir::TypedAttr outside) = 0;

  /// What `rule` makes of elements with its own arithmetic. An element that is the same for all
  /// lanes comes as a scalar: the rule gets vectors of all if one of them is a vector.
  virtual mlir::Value
  apply(llvm::ArrayRef<mlir::Value> elements,
        llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)> rule) = 0;

  /// The constant `value` (a FloatAttr or IntegerAttr).
  virtual mlir::Value constant(mlir::TypedAttr value) = 0;

  /// The value of an index expression, converted to `elementType` (integer or float).
  virtual mlir::Value indexValue(mlir::AffineExpr expression, mlir::Type elementType) = 0;

  /// An integer element read at run time as an index, known to satisfy 0 <= value < bound. A value
  /// that does not is reported as a data error by `message` and its bounds, and never used to read
  /// memory.
  virtual mlir::AffineExpr symbol(mlir::Value integer, int64_t bound, llvm::StringRef message) = 0;

  /// inside() where all `ranges` hold and outside() elsewhere; inside() reads nothing where they do
  /// not.
  virtual mlir::Value select(llvm::ArrayRef<IndexRange> ranges,
                             llvm::function_ref<mlir::Value()> inside,
                             llvm::function_ref<mlir::Value()> outside) = 0;
};

} // namespace accc

#endif
