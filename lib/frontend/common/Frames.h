// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Signals as frames that overlap.
#ifndef ACCC_FRONTEND_COMMON_FRAMES_H
#define ACCC_FRONTEND_COMMON_FRAMES_H

#include "frontend/common/NodeBuilder.h"

namespace accc::frontend {

/// The frames of `length` elements, `step` apart, of x [batch, elements]: [batch, frames, length].
/// Throws ImportError where not even one fits.
prim::Tensor framesOf(NodeBuilder &node, prim::Tensor x, int64_t length, int64_t step);

/// The inverse of framesOf, which sums where frames overlap: a signal as long as the frames reach.
prim::Tensor sumOfFrames(NodeBuilder &node, prim::Tensor frames, int64_t step);

} // namespace accc::frontend

#endif
