// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_BUDGET_PARTOFKERNEL_H
#define ACCC_BUDGET_PARTOFKERNEL_H

#include "ir/prim/Prim.h"

#include "llvm/ADT/MapVector.h"

namespace accc {

/// A kernel of its own that does a part of what `whole` does: computes `ops` of its body, in order,
/// and gives `results`, values of its body. `read` are the values of its body that come from
/// outside.
prim::FusionOp makePartOf(prim::FusionOp whole, mlir::OpBuilder &builder,
                          const llvm::MapVector<mlir::Value, mlir::Value> &read,
                          llvm::ArrayRef<mlir::Operation *> ops,
                          llvm::ArrayRef<mlir::Value> results);

} // namespace accc

#endif
