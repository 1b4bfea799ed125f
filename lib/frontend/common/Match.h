// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What rules that recognise composite operators in their parts look at.
#ifndef ACCC_FRONTEND_COMMON_MATCH_H
#define ACCC_FRONTEND_COMMON_MATCH_H

#include "ir/nn/Nn.h"
#include "ir/prim/Prim.h"

#include <optional>

namespace accc::match {

/// The number that every element of a value is, if that is known: a constant of equal elements,
/// broadcast or reshaped at will.
std::optional<double> number(mlir::Value value);

/// |a - b| <= 1e-6 |b|: what is left of a formula's constant after a float or two.
bool isAbout(std::optional<double> a, double b);

/// The operands of a commutative op, of which one fulfils a condition; it comes first.
template <typename Op, typename Condition>
std::optional<std::pair<mlir::Value, mlir::Value>> either(mlir::Value value, Condition condition) {
  auto op = value.getDefiningOp<Op>();
  if (!op)
    return std::nullopt;
  if (condition(op.getLhs()))
    return std::make_pair(op.getLhs(), op.getRhs());
  if (condition(op.getRhs()))
    return std::make_pair(op.getRhs(), op.getLhs());
  return std::nullopt;
}

/// value = other + constant: gives `other`.
mlir::Value plus(mlir::Value value, double constant);

/// A product as its known coefficient (1 if there is none) and its other factors, through nested
/// products and divisions by numbers.
struct Product {
  double coefficient = 1.0;
  llvm::SmallVector<mlir::Value> factors;
};
Product product(mlir::Value value, int depth = 0);

/// value = sum(x) / n along dimensions of x, which may be kept with extent 1. Gives x and the
/// dimensions.
struct Mean {
  mlir::Value operand;
  llvm::SmallVector<int64_t> dimensions;
};
std::optional<Mean> mean(mlir::Value value);

/// `value` has the shape of `full` and repeats a tensor along `dimensions`: gives that tensor,
/// which lacks these dimensions or has extent 1 there; else null.
mlir::Value repeatedAlong(mlir::Value value, llvm::ArrayRef<int64_t> full,
                          llvm::ArrayRef<int64_t> dimensions);

/// `value` repeats a tensor over the leading dimensions, up to `axis`: gives a tensor of the shape
/// of the others (reshaped if there were extents of 1 before it); else null.
mlir::Value repeatedOverLeading(mlir::Value value, int64_t axis, mlir::OpBuilder &builder);

} // namespace accc::match

#endif
