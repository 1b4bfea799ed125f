// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transposes and reshapes behind each other as one permutation of factors of dimensions.
#ifndef ACCC_IR_PRIM_VIEWCHAIN_H
#define ACCC_IR_PRIM_VIEWCHAIN_H

#include "ir/prim/Tensor.h"

namespace accc::prim {

/// Where the elements of a tensor are behind views of it: factors of its dimensions in some order.
class ViewWalk {
public:
  explicit ViewWalk(llvm::ArrayRef<int64_t> shape);

  void permute(llvm::ArrayRef<int64_t> permutation);
  /// False where the new dimensions are no products of factors, or a factor is 0.
  bool reshape(llvm::ArrayRef<int64_t> shape);
  /// False where the dimensions that become shorter are no single factors.
  bool slice(llvm::ArrayRef<int64_t> shape);
  /// One of these three ops; false also for others.
  bool pass(mlir::Operation *view);

  /// Makes one of factors that were split needlessly.
  void joinFactors();

  /// Extents but for those of 1, and the dimension that each is of, ascending.
  llvm::SmallVector<int64_t> factors, dimensions;
  /// The places in `factors` as the elements have them now, outermost first.
  llvm::SmallVector<int64_t> order;

private:
  void split(size_t at, int64_t outer);
  void erase(size_t at);
  llvm::SmallVector<size_t> groups; // how many of the order each dimension has
};

/// What a chain of transposes and reshapes makes of its source: the source with some of its
/// dimensions split into factors, these permuted, and seen in another shape.
struct ViewChain {
  mlir::Value source;
  /// The chain's ops.
  size_t length = 0;
  /// Of the source (ViewWalk).
  llvm::SmallVector<int64_t> factors, dimensions, order;
  llvm::SmallVector<int64_t> shape; // of the result

  bool permutes() const { return !llvm::is_sorted(order); }

  /// How many ops build() makes.
  size_t opsNeeded() const;
  /// The result, of fewer ops where the chain had more than it needed.
  Tensor build(mlir::OpBuilder &builder, mlir::Location loc) const;

private:
  bool splits() const;
  llvm::SmallVector<int64_t> permutation() const;
  llvm::SmallVector<int64_t> permutedShape() const;
};

/// The longest chain that ends in `value` and is a permutation of factors, of which only `value`
/// has other readers than the chain if `isPrivate`. Empty where `value` is no view, or has no
/// elements.
ViewChain followViews(mlir::Value value, bool isPrivate);

} // namespace accc::prim

#endif
