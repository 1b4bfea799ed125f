// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rewrite rules of --simplify, by idea, and what their matching shares.
#ifndef ACCC_TRANSFORMS_SIMPLIFY_PATTERNS_H
#define ACCC_TRANSFORMS_SIMPLIFY_PATTERNS_H

#include "ir/prim/Tensor.h"

#include "mlir/IR/PatternMatch.h"

namespace accc::transforms {

void populateViewRules(mlir::RewritePatternSet &patterns);       // views of views
void populateSliceRules(mlir::RewritePatternSet &patterns);      // slice, pad, concatenate
void populateCancellingRules(mlir::RewritePatternSet &patterns); // views around pointwise ops
void populateArithmeticRules(mlir::RewritePatternSet &patterns); // algebra of numbers
void populateChoiceRules(mlir::RewritePatternSet &patterns);     // booleans, select, convert
void populateReductionRules(mlir::RewritePatternSet &patterns);  // reductions of views
/// dot_general of views and, unless factors are kept where they are, of factors
void populateContractionRules(mlir::RewritePatternSet &patterns, bool keepFactors);
void populateKnownIndexRules(
    mlir::RewritePatternSet &patterns);                        // gathers and scatters by constants
void populateConstantRules(mlir::RewritePatternSet &patterns); // what is known at compile time

inline bool isSplat(mlir::Value value, double number) { return prim::splatNumber(value) == number; }

inline prim::Tensor tensor(mlir::PatternRewriter &rewriter, mlir::Operation *op,
                           mlir::Value value) {
  return prim::Tensor(rewriter, op->getLoc(), value);
}

/// Replaces an op of one result, as the last step of a rule.
inline mlir::LogicalResult replace(mlir::Operation *op, mlir::PatternRewriter &rewriter,
                                   mlir::Value value) {
  rewriter.replaceOp(op, value);
  return mlir::success();
}

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace accc::transforms

#endif
