// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function becomes one entry: order, places, launches.
#ifndef ACCC_SCHEDULE_ENTRYBUILDER_H
#define ACCC_SCHEDULE_ENTRYBUILDER_H

#include "ir/exec/Exec.h"
#include "schedule/Kernels.h"
#include "schedule/MemoryPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace accc {

/// Variable name -> offset in the state block.
using VariableTable = llvm::StringMap<int64_t>;

class EntryBuilder {
public:
  EntryBuilder(mlir::func::FuncOp function, mlir::ModuleOp program, const VariableTable &variables,
               KernelTable &kernels)
      : function(function), program(program), variables(variables), kernels(kernels) {}

  mlir::LogicalResult build();

private:
  /// Where a value lies. Arena offsets are found by `plan`.
  struct Place {
    exec::Space space;
    int64_t offset = 0;
    mlir::FlatSymbolRefAttr symbol;
    int64_t lifetime = -1; // index into lifetimes, for the arena
  };

  mlir::LogicalResult orderSteps();
  mlir::LogicalResult placeArguments();
  mlir::LogicalResult placeResults();
  void plan();
  mlir::LogicalResult emit();

  /// The value whose memory this one shares: looks through reshapes.
  static mlir::Value storage(mlir::Value value);
  /// True if `step` may write its result over the argument `old`: it reads it at the same index
  /// only.
  static bool readsInPlace(mlir::Operation *step, mlir::Value old);
  bool mayOverwrite(mlir::Operation *writer, mlir::Value old);
  /// The lifetime of a value in whose place `step` may write `result`; -1 if there is none.
  int64_t dyingInput(mlir::Operation *step, mlir::Value result);
  mlir::Value buffer(mlir::OpBuilder &b, mlir::Value value);
  /// The buffer of a tensor that begins `begin` bytes into `place`.
  mlir::Value slice(mlir::OpBuilder &b, const Place &place, mlir::RankedTensorType type,
                    mlir::Location loc, int64_t begin = 0);
  /// Emits the steps from `first` on, equal ones that touch nothing of each other's as one launch.
  void emitUpdates(mlir::OpBuilder &b, size_t first);
  void emitStep(mlir::OpBuilder &b, mlir::Operation *step);
  void emitLaunch(mlir::OpBuilder &b, prim::FusionOp fusion);
  void emitCopy(mlir::OpBuilder &b, mlir::Value from, const Place &to);

  mlir::func::FuncOp function;
  mlir::ModuleOp program;
  const VariableTable &variables;
  KernelTable &kernels;
  llvm::SmallVector<mlir::Operation *>
      steps; // in execution order; the last `numUpdates` change the state
  size_t numUpdates = 0;
  llvm::DenseMap<mlir::Operation *, int64_t> stepOf;
  llvm::DenseMap<mlir::Value, Place> places;
  std::vector<Lifetime> lifetimes;
  struct Copy {
    mlir::Value from;
    Place to;
    bool update;
  };
  llvm::SmallVector<Copy> copies; // at the very end
  int64_t arenaSize = 0;
};

} // namespace accc

#endif
