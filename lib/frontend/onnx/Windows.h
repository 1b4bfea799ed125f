// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows as the attributes of ONNX's convolutions and poolings describe them.
#ifndef ACCC_FRONTEND_ONNX_WINDOWS_H
#define ACCC_FRONTEND_ONNX_WINDOWS_H

#include "frontend/common/Windows.h"
#include "frontend/onnx/Node.h"

namespace accc::onnx_import {

/// Reads strides, dilations, pads, auto_pad and ceil_mode of a node whose window is `window`, over
/// the `spatial` extents. Throws ImportError for lists of another length, or numbers that make no
/// sense.
WindowGeometry readGeometry(Node &node, llvm::ArrayRef<int64_t> spatial,
                            llvm::ArrayRef<int64_t> window);

/// A list attribute with one positive entry for each spatial dimension, ones by default.
llvm::SmallVector<int64_t> positiveList(Node &node, llvm::StringRef name, size_t rank);

/// The `pads` attribute as what comes before and after, zeros by default.
std::pair<llvm::SmallVector<int64_t>, llvm::SmallVector<int64_t>> padsOf(Node &node, size_t rank);

/// x convolved with w as the node's attributes say; `bias` may be null.
prim::Tensor convolution(Node &node, prim::Tensor x, prim::Tensor w, mlir::Value bias);

} // namespace accc::onnx_import

#endif
