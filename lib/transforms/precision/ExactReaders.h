// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What reads a value in a way that shows that it was rounded.
#ifndef ACCC_TRANSFORMS_PRECISION_EXACTREADERS_H
#define ACCC_TRANSFORMS_PRECISION_EXACTREADERS_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"

namespace accc::transforms {

/// Readers of the values of a block that want them as they were computed. Most do not: what they
/// compute of a value that is off by a relative error of 2^-9 is about as far off. But a comparison
/// with another value jumps: the greatest of some elements is none of them any more once it is
/// rounded, and a gradient that looks for it finds nothing. And a function that is steep where the
/// value is (the logarithm of 1 - p, an exponential, a quotient) multiplies the error. Looked at is
/// what reads a value through views, sums and products.
class ExactReaders {
public:
  /// Rounded are values to `narrow`: bf16, or f16, in which small ones are zero.
  ExactReaders(mlir::Block &block, mlir::Type narrow);

  /// Whether a value that the block had when this was made has such a reader.
  bool has(mlir::Value value) const { return exact.lookup(value).asItIs; }

private:
  /// Whether something shows that a value is rounded: read as it is, and read after a sum, in which
  /// most of it may cancel.
  struct Shown {
    bool asItIs = false, inSum = false;
  };

  Shown shownBy(mlir::OpOperand &use) const;

  bool losesSmall; ///< the narrow type
  llvm::DenseMap<mlir::Value, Shown> exact;
};

} // namespace accc::transforms

#endif
