// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The windows of images as columns, and back: im2col and col2im.
#ifndef ACCC_FRONTEND_COMMON_PATCHES_H
#define ACCC_FRONTEND_COMMON_PATCHES_H

#include "frontend/common/Windows.h"

namespace accc::frontend {

/// x [N, C, spatial...] as [N, C * positions in a window, windows]. Throws ImportError where a
/// window does not fit.
prim::Tensor unfoldPatches(NodeBuilder &node, prim::Tensor x, const WindowGeometry &g);

/// The inverse, which sums where windows overlap: an image of these spatial extents. Throws
/// ImportError where `patches` does not hold its windows.
prim::Tensor foldPatches(NodeBuilder &node, prim::Tensor patches, llvm::ArrayRef<int64_t> extents,
                         const WindowGeometry &g);

} // namespace accc::frontend

#endif
