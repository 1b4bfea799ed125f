// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index arithmetic: affine expressions over loop variables, evaluated for all lanes of a vector.
#ifndef ACCC_CODEGEN_ELEMENT_INDEXEMITTER_H
#define ACCC_CODEGEN_ELEMENT_INDEXEMITTER_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <vector>

namespace accc::codegen {

/// An index for every lane: `base + lane * stride` if `lanes` is null, else `lanes` (vector of
/// i64).
struct LaneIndex {
  mlir::Value base;
  int64_t stride = 0;
  mlir::Value lanes;

  bool isUniform() const { return !lanes && stride == 0; }
};

/// Evaluates affine expressions over loop variables (dimensions) and run-time integers (symbols).
class IndexEmitter {
public:
  IndexEmitter(mlir::OpBuilder &builder, mlir::Location loc, unsigned numDims);

  mlir::AffineExpr dim(unsigned i) const;
  unsigned numDims() const { return static_cast<unsigned>(dims.size()); }

  /// Loop variable `i` has the value `base` (i64) and lies in [0, extent).
  void setDim(unsigned i, mlir::Value base, int64_t extent);
  /// Vectors run along loop variable `dim` with `width` lanes; its base is a multiple of `width`,
  /// or in its place the expression `multiple` is one in the first lane.
  void setVector(unsigned dim, int64_t width, mlir::AffineExpr multiple = nullptr);
  int64_t width() const { return lanes; }
  unsigned vectorDim() const { return vectorDimension; }
  /// Whether the expression is a multiple of the width in the first lane of each vector.
  bool startsAligned(mlir::AffineExpr expression) const {
    return startsAtMultipleOf(expression, lanes);
  }

  /// Divides in 32 bits what is known to fit: 64 are several times the instructions on a GPU.
  void setShortDivisions(bool isShort) { shortDivisions = isShort; }
  /// Adds and multiplies in 32 bits as well. For addresses that are computed once: in a loop they
  /// advance in 64.
  void setShortArithmetic(bool isShort) { shortArithmetic = isShort; }
  /// Quotient and remainder of `x` (i64), which lies in [0, bound).
  std::pair<mlir::Value, mlir::Value> divide(mlir::Value x, int64_t divisor, int64_t bound);

  /// A new symbol in [0, bound) whose value is a scalar i64 or a vector of i64.
  mlir::AffineExpr addSymbol(mlir::Value value, int64_t bound);

  LaneIndex evaluate(mlir::AffineExpr expression);
  /// The index as a value: scalar i64 if uniform, else a vector of i64.
  mlir::Value materialise(const LaneIndex &index);

  /// The least and greatest value that the expression can take, if known.
  std::optional<std::pair<int64_t, int64_t>> range(mlir::AffineExpr expression);
  /// Removes floordiv and mod that the ranges of loop variables make superfluous.
  mlir::AffineExpr simplify(mlir::AffineExpr expression);

  /// True if the first lane of `expression` is known to be a multiple of n.
  bool startsAtMultipleOf(mlir::AffineExpr expression, int64_t n) const;

  /// How far each lane is from the first, where that is known: 0, 1, 1, 2 of (x + 1) floordiv 2, of
  /// which x is a multiple of 4 in the first.
  std::optional<llvm::SmallVector<int64_t>> lanesApart(mlir::AffineExpr expression) const;
  /// The expression's value in the first lane, a scalar.
  mlir::Value inFirst(mlir::AffineExpr expression);

  /// 1 where low <= expression < high; i1 where all lanes agree, or a vector of i1; null if always
  /// true.
  mlir::Value inRange(mlir::AffineExpr expression, int64_t low, int64_t high);

  mlir::Value constant(int64_t value);

  // Evaluated expressions are remembered in scopes, as BodyEmitter's values are.
  using Indices = llvm::DenseMap<mlir::AffineExpr, LaneIndex>;
  void pushScope(Indices &&remembered) { memo.push_back(std::move(remembered)); }
  Indices popScope() {
    Indices remembered = std::move(memo.back());
    memo.pop_back();
    return remembered;
  }

private:
  LaneIndex compute(mlir::AffineExpr expression);
  LaneIndex divide(mlir::AffineBinaryOpExpr expression);
  std::pair<mlir::Value, mlir::Value> unsignedOperands(mlir::Value x, int64_t divisor,
                                                       int64_t bound);
  template <typename Op>
  mlir::Value divideUnsigned(std::pair<mlir::Value, mlir::Value> operands, mlir::Type type);
  mlir::AffineExpr inFirstLane(mlir::AffineExpr expression) const;
  bool fits32Bits(mlir::AffineExpr expression);
  template <typename Op> mlir::Value combine(mlir::Value x, mlir::Value y, bool isShort);
  bool lanesAgree(mlir::AffineExpr expression, const LaneIndex &at, int64_t bound);
  bool lanesStayTogether(mlir::AffineExpr expression, int64_t divisor);

  mlir::OpBuilder &b;
  mlir::Location loc;
  std::vector<mlir::Value> dims, symbols;
  std::vector<int64_t> dimExtents, symbolBounds;
  unsigned vectorDimension = ~0u;
  int64_t lanes = 1;
  mlir::AffineExpr knownMultiple; // null: that is the vector's loop variable
  bool shortDivisions = false, shortArithmetic = false;
  std::vector<Indices> memo;
};

} // namespace accc::codegen

#endif
