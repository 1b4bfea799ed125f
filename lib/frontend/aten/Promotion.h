// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PyTorch's rules for operands of different element types.
#ifndef ACCC_FRONTEND_ATEN_PROMOTION_H
#define ACCC_FRONTEND_ATEN_PROMOTION_H

#include "frontend/aten/Node.h"

namespace accc::aten {

/// What torch.result_type gives for these arguments: tensors with dimensions decide before those
/// without, and both before numbers, unless what decides is of a lower category (booleans,
/// integers, floats). Numbers are int64, bool, or floats of the default type.
mlir::Type resultType(const Node &node, llvm::ArrayRef<llvm::StringRef> names);

/// What torch.promote_types gives.
mlir::Type promoteTypes(mlir::Type a, mlir::Type b);

/// The argument, a tensor or a number, as a tensor of this element type.
prim::Tensor asTensor(const Node &node, llvm::StringRef name, mlir::Type type);

/// x times the number that an argument is. Integers are multiplied with integers as they are: a
/// double does not hold all of them.
prim::Tensor multiplied(const Node &node, prim::Tensor x, llvm::StringRef name);

/// Both arguments in their common element type and shape.
std::pair<prim::Tensor, prim::Tensor> operands(const Node &node, llvm::StringRef a,
                                               llvm::StringRef b);

/// The same for a function of reals: integers become floats of the default type, each from its own,
/// as a number may be beyond what their common type holds (uint8 / 256).
std::pair<prim::Tensor, prim::Tensor> floatOperands(const Node &node, llvm::StringRef a,
                                                    llvm::StringRef b);

/// A tensor of floats: integers and booleans become those of the default type, as in PyTorch's
/// functions of reals.
prim::Tensor asFloat(const Node &node, prim::Tensor x);
/// Booleans become int64, as in PyTorch's sums.
prim::Tensor asNumber(const Node &node, prim::Tensor x);
/// Booleans become int32, which has an order.
prim::Tensor asOrdered(const Node &node, prim::Tensor x);

/// The greater and the lesser element of two tensors of one type and shape, also of booleans.
prim::Tensor greaterOf(prim::Tensor a, prim::Tensor b);
prim::Tensor lesserOf(prim::Tensor a, prim::Tensor b);

} // namespace accc::aten

#endif
