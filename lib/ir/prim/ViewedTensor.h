// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is in a view, and what it is of with something else in it: as tensors and as numbers.
#ifndef ACCC_IR_PRIM_VIEWEDTENSOR_H
#define ACCC_IR_PRIM_VIEWEDTENSOR_H

#include "ir/interfaces/ReferenceArray.h"
#include "ir/prim/StridedView.h"
#include "ir/prim/Tensor.h"

namespace accc::prim {

Tensor viewed(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value whole,
              const StridedView &view);
ReferenceArray viewed(const ReferenceArray &whole, const StridedView &view);

/// The whole, which has been a part of it put where the view says.
Tensor put(Tensor whole, Tensor part, const StridedView &view);
void put(ReferenceArray &whole, const ReferenceArray &part, const StridedView &view);

} // namespace accc::prim

#endif
