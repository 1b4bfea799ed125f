// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Einstein's summation convention.
#ifndef ACCC_FRONTEND_COMMON_EINSUM_H
#define ACCC_FRONTEND_COMMON_EINSUM_H

#include "frontend/common/NodeBuilder.h"

namespace accc::frontend {

/// The sum of products that `equation` describes ("bij,bjk->bik"; spaces do not count, `...` stands
/// for leading dimensions, without `->` the labels that stand once are kept, in alphabetical
/// order), contracted from left to right. The operands are of one element type, integers exact up
/// to 2^53. Throws ImportError for an equation that does not fit them.
prim::Tensor einsum(NodeBuilder &node, std::string equation, llvm::ArrayRef<prim::Tensor> inputs);

} // namespace accc::frontend

#endif
