// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which ops of a function run channels last.
#ifndef ACCC_LAYOUT_ORDERCHOICE_H
#define ACCC_LAYOUT_ORDERCHOICE_H

#include "layout/OrderRules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace accc::layout {

/// Ops that compute in another order than their own, and the orders.
using OpOrders = llvm::MapVector<mlir::Operation *, OpOrder>;

/// What could lie in memory in another order than its own, starting from some of it: ops that read
/// what others give and give what others read, over any number of ops.
struct Followers {
  OpOrders ops;
  llvm::MapVector<mlir::Value, DimensionOrder> values; // views among them
};

/// From the convolutions, with all of their tensors, and from the variables that lie in an order.
Followers followConvolutions(mlir::func::FuncOp function, const ConvolutionOrders &convolutions);

/// From these values alone, and not from one reader to another of what lies in any order, as a
/// number that a broadcast repeats. Convolutions do not follow.
Followers followValues(llvm::ArrayRef<OrderedValue> values);

/// Those of `possible` with which the block moves the fewest bytes: a convolution that is left
/// channels first copies its tensors inside of the library, and a value that is needed in another
/// order than it is made in is copied once for all who need it so.
OpOrders chooseOrders(mlir::Block &block, const OpOrders &possible,
                      const ConvolutionOrders &convolutions);

} // namespace accc::layout

#endif
