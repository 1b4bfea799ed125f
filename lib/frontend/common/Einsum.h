// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Einstein's summation convention.
#ifndef ACCC_FRONTEND_COMMON_EINSUM_H
#define ACCC_FRONTEND_COMMON_EINSUM_H

#include "frontend/common/NodeBuilder.h"

namespace accc::frontend {

/// The label of each dimension. Those of an ellipsis are numbers that no letter has, the same for
/// the same distance from its end.
struct EinsumLabels {
  llvm::SmallVector<llvm::SmallVector<int>> operands;
  llvm::SmallVector<int> result;
};

/// Throws ImportError for an equation that does not fit operands with so many dimensions.
EinsumLabels einsumLabels(std::string equation, llvm::ArrayRef<int64_t> ranks);

/// The sum of products that `equation` describes ("bij,bjk->bik"; spaces do not count, `...` stands
/// for leading dimensions, without `->` the labels that stand once are kept, in alphabetical
/// order), contracted from left to right. The operands are of one element type; integers are exact,
/// modulo the range of that type. Throws ImportError for an equation that does not fit them.
prim::Tensor einsum(NodeBuilder &node, std::string equation, llvm::ArrayRef<prim::Tensor> inputs);

/// The matrix product by numpy's rules, of integers as einsum has it.
prim::Tensor matrixProduct(NodeBuilder &node, prim::Tensor a, prim::Tensor b);

} // namespace accc::frontend

#endif
