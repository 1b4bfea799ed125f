// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_FUSION_KNOWNINDICES_H
#define ACCC_FUSION_KNOWNINDICES_H

#include "ir/prim/Prim.h"

namespace accc {

/// The elements of indices that are a constant; else null.
inline mlir::DenseIntElementsAttr findKnownIndices(mlir::Value indices) {
  auto constant = indices.getDefiningOp<prim::ConstantOp>();
  return constant ? mlir::dyn_cast<mlir::DenseIntElementsAttr>(constant.getValue()) : nullptr;
}

} // namespace accc

#endif
