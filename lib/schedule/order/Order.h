// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an entry runs, in which order.
#ifndef ACCC_SCHEDULE_ORDER_ORDER_H
#define ACCC_SCHEDULE_ORDER_ORDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseMap.h"

namespace accc {

/// Whether the op stands for a place in its operand's memory: a reshape, or a slice that takes one
/// piece. No step computes it.
bool isAlias(mlir::Operation *op);

/// The memory of a value: the whole of `storage`, or a piece of it.
struct Storage {
  mlir::Value value;
  int64_t begin = 0; // in bytes
};
Storage storageAndBegin(mlir::Value value);

/// The value whose memory `value` shares: looks through aliases.
inline mlir::Value storageOf(mlir::Value value) { return storageAndBegin(value).value; }

/// The steps of an entry in execution order. Lifetimes are computed from it and it is what is
/// emitted: nothing behind this point changes it.
struct Order {
  /// Fusions and contractions.
  llvm::SmallVector<mlir::Operation *> steps;
  /// The steps from here on run behind the check of the data: they may write variables in place,
  /// and none of them reports a data error.
  int64_t firstUpdate = 0;

  /// The number of a step, -1 for an op that is none (an alias, a constant, the terminator).
  int64_t indexOf(mlir::Operation *op) const {
    auto it = index.find(op);
    return it == index.end() ? -1 : it->second;
  }
  int64_t size() const { return static_cast<int64_t>(steps.size()); }

  llvm::DenseMap<mlir::Operation *, int64_t> index;
};

/// Program order, except that steps whose results are nothing but new values of variables go to the
/// end, and with them the few numbers that only they read (the step count, bias corrections).
/// Fails on an op that is neither a fusion, a contraction, an alias nor a constant.
mlir::FailureOr<Order> orderSteps(mlir::func::FuncOp function);

} // namespace accc

#endif
