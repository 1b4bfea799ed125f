// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the values of an entry lie.
#ifndef ACCC_SCHEDULE_MEMORY_PLACEMENT_H
#define ACCC_SCHEDULE_MEMORY_PLACEMENT_H

#include "ir/exec/Exec.h"
#include "schedule/Variables.h"
#include "schedule/order/Order.h"

namespace accc {

/// Where a value lies: `offset` as in exec.slice.
struct Place {
  exec::Space space;
  int64_t offset = 0;
};

/// A value that is copied when all steps have run, because it could not be written where it is
/// wanted.
struct Copy {
  mlir::Value value;
  Place from, to;
};

/// The memory of one entry.
class Placement {
public:
  /// Gives every argument, every result of a step and every returned value its place. A returned
  /// value is written where the caller, or the variable, wants it, if no step still reads what lies
  /// there; else it is copied there at the end. `enough` as planMemory's.
  static mlir::FailureOr<Placement> compute(mlir::func::FuncOp function, const Order &order,
                                            const VariableTable &variables, int64_t enough = 0);

  /// Where `value` lies; nothing for a constant, which lies in the library.
  std::optional<Place> find(mlir::Value value) const;

  /// In order: results for the caller, which may show what a variable held before its update; what
  /// has to be saved before its variable changes; new values of variables. Those from
  /// `firstUpdateCopy` on change variables, and none of them reads what another writes.
  llvm::SmallVector<Copy> copies;
  size_t firstUpdateCopy = 0;
  /// In bytes; the first ACCC_ALIGNMENT of them hold the status word.
  int64_t arenaSize = 0;

private:
  friend class PlacementBuilder;
  llvm::DenseMap<mlir::Value, Place> places; // by storage
};

} // namespace accc

#endif
