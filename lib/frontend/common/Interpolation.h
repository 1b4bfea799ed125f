// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors read between their elements, at places that are data.
#ifndef ACCC_FRONTEND_COMMON_INTERPOLATION_H
#define ACCC_FRONTEND_COMMON_INTERPOLATION_H

#include "frontend/common/NodeBuilder.h"

#include <optional>

namespace accc::frontend {

/// The elements along one dimension that the value at each place is made of: tensors [taps,
/// places...]. Positions are whole numbers, of which those outside the dimension stand for zeros.
/// Without weights, there is one tap, and the value is its element.
struct Taps {
  prim::Tensor position;
  std::optional<prim::Tensor> weight;
};

/// The nearest element; of two at the same distance the even one.
Taps nearestTaps(prim::Tensor place);
/// The elements on both sides.
Taps linearTaps(prim::Tensor place);
/// Four elements, by cubic convolution; `a` is its parameter.
Taps cubicTaps(prim::Tensor place, double a);

/// The products of the elements of x [samples, channels, spatial...] at taps along each spatial
/// dimension with their weights: [combinations of taps, places..., channels]. `sample` [places...]
/// says whose elements they are: int64, from 0 to the number of samples, which is itself out of
/// range, an error in the data.
///
/// The gradient flows to x, as one scatter of rows of channels, and through the weights to the
/// places.
prim::Tensor weightedElements(NodeBuilder &node, prim::Tensor x, prim::Tensor sample,
                              llvm::ArrayRef<Taps> taps);

/// Their sum, the interpolated values: [places..., channels].
prim::Tensor interpolate(NodeBuilder &node, prim::Tensor x, prim::Tensor sample,
                         llvm::ArrayRef<Taps> taps);

/// Throws ImportError where x cannot be resized to `shape` by kernels as wide as a dimension is
/// shrunk, which are matrices.
void checkWideKernels(prim::Tensor x, llvm::ArrayRef<int64_t> shape);

/// A tensor with its last dimension moved to `to`.
prim::Tensor moveLast(prim::Tensor x, int64_t to);

} // namespace accc::frontend

#endif
