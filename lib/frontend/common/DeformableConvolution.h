// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions whose windows read the input at places that are data.
#ifndef ACCC_FRONTEND_COMMON_DEFORMABLECONVOLUTION_H
#define ACCC_FRONTEND_COMMON_DEFORMABLECONVOLUTION_H

#include "frontend/common/Windows.h"

#include <optional>

namespace accc::frontend {

/// A convolution of x [N, C, spatial...] with w [O, C / groups, window...], each of whose elements
/// is read `offset` away from its place, between elements, and multiplied with `mask`. The channels
/// are divided into `offsetGroups` with offsets of their own: offset [N, offsetGroups * positions
/// in the window * dimensions, spatial'...] and mask [N, offsetGroups * positions, spatial'...].
/// Outside of the input are zeros. Throws ImportError where the shapes do not fit.
prim::Tensor deformableConvolution(NodeBuilder &node, prim::Tensor x, prim::Tensor w,
                                   prim::Tensor offset, std::optional<prim::Tensor> mask,
                                   std::optional<prim::Tensor> bias, const WindowGeometry &g,
                                   int64_t groups, int64_t offsetGroups);

} // namespace accc::frontend

#endif
