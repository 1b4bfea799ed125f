// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which ops of a function run channels last.
#ifndef ACCC_LAYOUT_ORDERCHOICE_H
#define ACCC_LAYOUT_ORDERCHOICE_H

#include "layout/OrderRules.h"
#include "target/Target.h"

#include "llvm/ADT/MapVector.h"

namespace accc::layout {

/// Ops that compute in another order than their own, and the orders.
using OpOrders = llvm::MapVector<mlir::Operation *, OpOrder>;

/// Every op that could follow the convolutions channels last: those that read what they give and
/// give what they read, over any number of ops.
OpOrders followConvolutions(mlir::Block &block);

/// Those of `possible` with which the block moves the fewest bytes: a convolution that is left
/// channels first copies its activations inside of the library, and a value that is needed in
/// another order than it is made in is copied once for all who need it so.
OpOrders chooseOrders(mlir::Block &block, const OpOrders &possible, const Target &target);

} // namespace accc::layout

#endif
