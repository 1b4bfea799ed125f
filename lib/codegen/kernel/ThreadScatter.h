// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scatter where lanes are threads. A task owns some rows of the result, neighbours along the axis,
// in some of the columns after it. Its lanes look through all indices, one each, for those of its
// rows, and then apply these updates together, one after the other, a lane to each column. So
// duplicates need no atomics: every element adds up its updates in their order.
//
// Few rows that get many updates each would be few tasks with much to do. A task is a block then
// that owns one row: each of its warps adds up the updates of a run of the indices, and what the
// runs have is added up in their order.
//
// Of sorted indices a task finds those of its rows by binary searches: two lanes look through all
// indices for both ends of what belongs to the task, whose lanes then look there, each for its row.
// A row is added up in registers.
#ifndef ACCC_CODEGEN_KERNEL_THREADSCATTER_H
#define ACCC_CODEGEN_KERNEL_THREADSCATTER_H

#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Scatter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

namespace accc::codegen {

/// How many rows and columns a task owns.
struct ScatterShare {
  int64_t rows, columns;
};

class ThreadScatter {
public:
  ThreadScatter(exec::KernelOp kernel, mlir::func::FuncOp function, prim::ScatterOp scatter,
                const KernelTarget &target, ErrorTable &errors);
  KernelFunction emit();

private:
  ScatterShare chooseShare() const;
  int64_t chooseRuns();
  struct Piece {
    mlir::Value firstRow, endRow, firstColumn, endColumn;
  };
  Piece enter(mlir::Value task, ScatterShare share);
  struct Row {
    mlir::Value number;
    mlir::Value exists; // else it is the task's last; null if it does
  };
  void forRowsTogether(const Piece &piece, ScatterShare share,
                       llvm::function_ref<void(llvm::ArrayRef<Row>)> body);
  void forEachData(llvm::ArrayRef<Row> rows, llvm::function_ref<void(size_t, mlir::Value)> body);
  void emitRows(mlir::Value task, ScatterShare share);
  void emitSortedRows(mlir::Value task, ScatterShare share);
  void emitRun(mlir::Value task, int64_t runs);
  mlir::Value sumOfRun(mlir::Value run, int64_t runs, mlir::Value lane, mlir::Value row);
  mlir::Value combine(mlir::Value total, llvm::ArrayRef<mlir::Value> updates);
  mlir::Value apply(mlir::Value total, mlir::Value first, mlir::Value end);

  void checkEnds(mlir::Value task);
  mlir::Value loadIndex(mlir::Value number);
  mlir::Value countBelow(mlir::Value row) { return countBelow(row, index.constant(0), whole()); }
  mlir::Value countBelow(mlir::Value row, mlir::Value low, mlir::Value high);
  mlir::Value whole() { return index.constant(indexCount); }
  struct Read {
    mlir::Value row;    // of the index that the lane reads
    mlir::Value exists; // whether it is one, and not past the last
  };
  std::optional<Read> readIndex(mlir::Value first, mlir::Value lane);
  mlir::Value updateOf(mlir::Value number);

  int64_t groupsOf(ScatterShare share) const {
    // Where there are no rows a task still finds that all indices are wrong.
    return std::max<int64_t>(1, static_cast<int64_t>(llvm::divideCeil(extent, share.rows)));
  }
  int64_t blocksOf(ScatterShare share) const {
    return static_cast<int64_t>(llvm::divideCeil(columns, share.columns));
  }
  void set(llvm::ArrayRef<unsigned> dims, mlir::Value row) {
    if (!dims.empty())
      setRow(emitter, domain, dims, row);
  }
  mlir::Value add(mlir::Value a, mlir::Value c) { return b.create<mlir::arith::AddIOp>(loc, a, c); }
  mlir::Value times(mlir::Value number, int64_t size) {
    return b.create<mlir::arith::MulIOp>(loc, number, index.constant(size));
  }
  mlir::Value subtract(mlir::Value a, mlir::Value c) {
    return b.create<mlir::arith::SubIOp>(loc, a, c);
  }
  mlir::Value least(mlir::Value a, mlir::Value c) {
    return b.create<mlir::arith::MinUIOp>(loc, a, c);
  }
  mlir::Value endOf(mlir::Value first, int64_t size, int64_t limit) {
    return least(add(first, index.constant(size)), index.constant(limit));
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value c) {
    return b.create<mlir::arith::CmpIOp>(loc, predicate, a, c);
  }

  prim::ScatterOp scatter;
  mlir::func::FuncOp function;
  const KernelTarget &target;
  llvm::ArrayRef<int64_t> shape, indexShape;
  bool sorted; // the indices are
  unsigned axis, rank, indexRank;
  int64_t extent, indexCount, slabs, columns;
  // Loop variables: those of the result, those of the index that a lane reads and of the update
  // that all apply, and the columns as one.
  unsigned flat;
  int64_t lanes; // of a warp
  BodyEmitter emitter;
  mlir::OpBuilder &b;
  mlir::Location loc;
  IndexEmitter &index;
  Domain domain;
  llvm::SmallVector<unsigned> outer, inner, readDims, appliedDims;
  llvm::SmallVector<mlir::AffineExpr> element, indexPosition, update;
};

} // namespace accc::codegen

#endif
