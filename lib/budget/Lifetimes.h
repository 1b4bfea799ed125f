// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which values of an entry lie in its scratch memory, and from when to when.
#ifndef ACCC_BUDGET_LIFETIMES_H
#define ACCC_BUDGET_LIFETIMES_H

#include "schedule/order/Order.h"

#include "llvm/ADT/MapVector.h"

namespace accc {

/// From the step `first` that gives a value to the last that reads it.
struct Kept {
  int64_t bytes = 0;
  int64_t first = 0;
  /// The steps that read it, in order, each once.
  llvm::SmallVector<int64_t> uses;

  int64_t last() const { return uses.empty() ? first : uses.back(); }
  /// Lies in memory when step `at` begins, and until it ends.
  bool isThereAt(int64_t at) const { return first < at && at <= last(); }
};

/// The lifetimes of one function. Values that the function returns lie elsewhere.
class Lifetimes {
public:
  Lifetimes(mlir::func::FuncOp function, Order order);

  const Order &getOrder() const { return order; }
  /// By what `storageOf` gives, in the order of their steps.
  const llvm::MapVector<mlir::Value, Kept> &values() const { return kept; }
  /// Null for what does not lie in scratch memory.
  const Kept *find(mlir::Value value) const {
    auto it = kept.find(value);
    return it == kept.end() ? nullptr : &it->second;
  }
  /// Bytes at each step. What it writes over what it reads takes none there.
  llvm::ArrayRef<int64_t> live() const { return bytes; }
  int64_t peak() const;

private:
  Order order;
  llvm::MapVector<mlir::Value, Kept> kept;
  std::vector<int64_t> bytes;
};

} // namespace accc

#endif
