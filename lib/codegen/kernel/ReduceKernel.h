// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions in passes: softmax, normalisations, sums along any dimensions.
//
// A row is what one result of each reduction is computed from. Reductions that need the results of
// others are a level above these. A pass over the row is made for each level, and one for the
// outputs that have an element for each of the row's.
#ifndef ACCC_CODEGEN_KERNEL_REDUCEKERNEL_H
#define ACCC_CODEGEN_KERNEL_REDUCEKERNEL_H

#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Emitters.h"

namespace accc::codegen {

/// The reductions of one kernel, all over the same dimensions of the same space, and what each
/// level of them computes at the loop variables' present values. Beside them, where lanes are
/// threads, there may be those of columns: of strips of rows (prim::KernelReductions).
struct Reductions {
  struct Output {
    mlir::Value value;
    bool full;    // of the space's shape
    bool column;  // one of `columns`; else, if not full, of the kept dimensions
    size_t depth; // how many levels of reductions it needs
  };

  /// Those of a kernel of kind reduce that has its KernelSpec.
  explicit Reductions(exec::KernelOp kernel);

  static mlir::Type elementOf(prim::ReduceOp reduction);
  /// The type of a reduction's totals, until they are all there.
  static mlir::Type accumulatorOf(prim::ReduceOp reduction);
  static mlir::Value initialOf(BodyEmitter &emitter, prim::ReduceOp reduction);
  static mlir::Value combine(BodyEmitter &emitter, prim::ReduceOp reduction, mlir::Value a,
                             mlir::Value b);
  /// What the reduction, of a level or of columns, combines, in the accumulator's type, for all
  /// lanes.
  mlir::Value operandOf(BodyEmitter &emitter, prim::ReduceOp reduction) const;
  /// What is the same in all rows: values at `position` that have an element for each of a row's.
  llvm::SmallVector<mlir::Value> findShared() const;
  /// From now on the reduction's value is `total`, of the accumulator's type.
  void bind(BodyEmitter &emitter, prim::ReduceOp reduction, mlir::Value total) const;

  /// All that is computed of an element, in place of the passes over a row: to see what it
  /// accesses.
  void emitAll(BodyEmitter &emitter) const;

  /// The same, so many rows further along a kept dimension.
  Reductions movedBy(unsigned dim, int64_t rows) const;

  llvm::ArrayRef<int64_t> spaceShape() const;
  llvm::SmallVector<mlir::AffineExpr> keptPosition() const;
  /// How many levels of reductions the value needs.
  size_t depthOf(mlir::Value value) const { return depth.lookup(value.getDefiningOp()); }
  bool hasFullOutput(size_t depth) const;
  /// The full outputs that need exactly `depth` levels, and their numbers.
  llvm::SmallVector<std::pair<unsigned, mlir::Value>> computeFull(BodyEmitter &emitter,
                                                                  size_t depth) const;
  void storeFull(BodyEmitter &emitter, size_t depth) const;
  /// Stores the other outputs.
  void storeKept(BodyEmitter &emitter) const;

  exec::KernelOp kernel;
  Domain domain;
  llvm::SmallVector<mlir::AffineExpr> position;
  llvm::SmallVector<llvm::SmallVector<prim::ReduceOp>> levels;
  llvm::SmallVector<prim::ReduceOp> columns;
  int64_t stripRows; // of which a column is one result
  llvm::SmallVector<Output> outputs;
  llvm::DenseMap<mlir::Operation *, size_t> depth; // of each op's results
};

/// Lanes are those of vectors along the innermost dimension: if that is reduced, partial results
/// are combined across lanes at the end of a row; if it is kept, each lane has its own result.
KernelFunction reduceInVectors(const Reductions &reductions, mlir::func::FuncOp function,
                               const KernelTarget &target, ErrorTable &errors);

/// Lanes are threads, which share what is reduced whichever dimensions these are, and walk it as
/// one.
KernelFunction reduceByThreads(const Reductions &reductions, mlir::func::FuncOp function,
                               const KernelTarget &target, ErrorTable &errors);

} // namespace accc::codegen

#endif
