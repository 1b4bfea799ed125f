// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images sampled on a grid of places between -1 and 1, their first and last elements or edges.
#ifndef ACCC_FRONTEND_COMMON_GRIDSAMPLE_H
#define ACCC_FRONTEND_COMMON_GRIDSAMPLE_H

#include "frontend/common/NodeBuilder.h"

namespace accc::frontend {

enum class GridInterpolation { linear, nearest, cubic };
/// What lies outside of the image: zeros, the nearest element, or the image mirrored.
enum class GridPadding { zeros, border, reflection };

/// The values of x [N, C, spatial...] at the places of the grid [N, places..., coordinates], which
/// has a coordinate for each spatial dimension, that of the last dimension first: [N, C,
/// places...]. Gradients are PyTorch's. Throws ImportError where the shapes do not fit.
prim::Tensor gridSample(NodeBuilder &node, prim::Tensor x, prim::Tensor grid,
                        GridInterpolation interpolation, GridPadding padding, bool alignCorners);

/// The grid [N, spatial..., coordinates] that the affine maps theta [N, coordinates, coordinates +
/// 1] make of one that samples an image of the shape [N, C, spatial...] at each of its elements.
/// Throws ImportError where the shapes do not fit.
prim::Tensor affineGrid(NodeBuilder &node, prim::Tensor theta, llvm::ArrayRef<int64_t> image,
                        bool alignCorners);

} // namespace accc::frontend

#endif
