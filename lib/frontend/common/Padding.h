// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Padding, with zeros and by elements of the tensor itself.
#ifndef ACCC_FRONTEND_COMMON_PADDING_H
#define ACCC_FRONTEND_COMMON_PADDING_H

#include "frontend/common/NodeBuilder.h"

namespace accc::frontend {

/// Adds zeros behind the elements of a dimension, or takes elements away.
prim::Tensor fit(prim::Tensor x, int64_t dimension, int64_t extent);

/// The input of a transposed convolution behind which output padding of a stride or more, which may
/// be as long as it is less than the dilation, lies as so many zeros; what is left is less than a
/// stride.
prim::Tensor withOutputPadding(prim::Tensor x, llvm::ArrayRef<int64_t> strides,
                               llvm::ArrayRef<int64_t> dilations,
                               llvm::MutableArrayRef<int64_t> outputPadding);

/// Adds `low` elements before and `high` after each dimension (negative ones take away): the
/// nearest of the tensor (mode "edge"), those mirrored at its ends ("reflect"), or those of its
/// other end ("wrap", of what is not taken away). Throws ImportError for what is too long or has no
/// element.
prim::Tensor padByElements(NodeBuilder &node, prim::Tensor x, llvm::StringRef mode,
                           llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high);

} // namespace accc::frontend

#endif
