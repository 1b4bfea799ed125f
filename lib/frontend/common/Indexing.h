// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices into tensors, as importers' rules build them.
#ifndef ACCC_FRONTEND_COMMON_INDEXING_H
#define ACCC_FRONTEND_COMMON_INDEXING_H

#include "frontend/common/NodeBuilder.h"

namespace accc::frontend {

/// Negative indices count from the end.
prim::Tensor wrapNegative(prim::Tensor indices, int64_t extent);

/// The same value, through which no gradient flows.
prim::Tensor detach(prim::Tensor x);
/// What `detach` was given, through reshapes, where x is a result of it; x otherwise.
prim::Tensor attached(prim::Tensor x);

/// The rows, of which those of the index `padding` take no gradient: an embedding's padding_idx.
prim::Tensor withoutGradientOf(prim::Tensor rows, prim::Tensor indices, int64_t padding);

/// The rows, each divided by how many of the `indices` name the same one of `count`.
prim::Tensor dividedByFrequency(NodeBuilder &node, prim::Tensor rows, prim::Tensor indices,
                                int64_t count);

/// How a scatter adds to elements of this type: a sum of booleans is true once any of them is.
prim::ScatterKind additionOf(mlir::Type element);

/// All elements in one dimension.
prim::Tensor flat(prim::Tensor x);

/// Row-major strides, in elements.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape);

/// `position`, which is computed from `index`, one of several coordinates, where that lies in [0,
/// extent); elsewhere -1, which is outside of every tensor. A coordinate that is out of range would
/// else be the position of another row's element.
prim::Tensor whereInside(prim::Tensor index, int64_t extent, prim::Tensor position);

/// The row-major position in a tensor of `shape` of: this index along `axis`, its own position
/// elsewhere; -1 where the index is out of range. Throws ImportError where the indices do not fit
/// the shape.
prim::Tensor alongAxis(NodeBuilder &node, prim::Tensor indices, llvm::ArrayRef<int64_t> shape,
                       int64_t axis);

/// Data as rows: its first `dimensions` dimensions become one.
prim::Tensor asRows(NodeBuilder &node, prim::Tensor data, int64_t dimensions);

} // namespace accc::frontend

#endif
