// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of any numbers through which gradients do not flow as they were computed.
#ifndef ACCC_FRONTEND_COMMON_GRADIENT_H
#define ACCC_FRONTEND_COMMON_GRADIENT_H

#include "frontend/common/NodeBuilder.h"

namespace accc::frontend {

/// Whether values of this type may have a gradient.
bool isDifferentiable(mlir::Type tensor);

/// The value without its gradient, if it can have one.
mlir::Value withoutGradient(ForwardBuilder &function, mlir::Location loc, mlir::Value value);

/// The value without its gradient where `condition`, one boolean, is false: what a branch that is
/// computed but not taken gives the values it reads as a gradient may be infinite or NaN.
prim::Tensor withGradientIf(prim::Tensor condition, prim::Tensor value);

/// The value with the gradient of `x`, which has the same type.
mlir::Value straightThrough(ForwardBuilder &function, mlir::Location loc, mlir::Value value,
                            mlir::Value x);
/// Of floats, as part of a rule.
prim::Tensor straightThrough(prim::Tensor value, prim::Tensor x);

/// The value in place of `x`, of any numbers and shape, of which PyTorch's graph knows: the
/// gradient of x is zero where there would be none.
mlir::Value zeroDependence(ForwardBuilder &function, mlir::Location loc, mlir::Value value,
                           mlir::Value x);
/// The same as part of a rule. Where one of them has no gradient, the value
/// alone.
prim::Tensor zeroDependence(prim::Tensor value, prim::Tensor x);

} // namespace accc::frontend

#endif
