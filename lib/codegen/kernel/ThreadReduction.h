// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions by threads, some of which share the elements of a result.
//
// What a thread has of a row it takes in steps, an element each, or of 16-bit floats some
// neighbours. Where these are few, the passes are without loops, and what one computes of an
// element the next finds in registers: a row is read once. Otherwise each pass is a loop over some
// steps at a time.
//
// Rows that stay in registers may be taken in strips, one row after the other: what they share,
// such as a normalisation's scale, is read once for all of them, and what is reduced of the strip,
// one result for each element of a row, is what each thread has of its elements.
//
// Where several rows read the same (the distances of many points from one), a task takes some of
// them at once: it reads that once, and has a total for each.
#ifndef ACCC_CODEGEN_KERNEL_THREADREDUCTION_H
#define ACCC_CODEGEN_KERNEL_THREADREDUCTION_H

#include "codegen/kernel/RowAnalysis.h"

#include <vector>

namespace accc::codegen {

class ThreadReduction {
public:
  ThreadReduction(const Reductions &r, mlir::func::FuncOp function, const KernelTarget &target,
                  ErrorTable &errors)
      : r(r), function(function), target(target),
        emitter(r.kernel, function, target, errors, static_cast<unsigned>(r.position.size()) + 1),
        index(emitter.indices()), b(emitter.builder()), loc(emitter.loc()),
        inner(static_cast<unsigned>(r.domain.innermost())), elements(r.domain.count(true)),
        shared(r.findShared()), together{r} {
    for (unsigned i = 0; i < r.position.size(); ++i) {
      if (r.domain.extents[i] == 1)
        continue;
      if (r.domain.reduced[i])
        reduced.push_back(i);
      else if (i != inner)
        kept.push_back(i);
    }
  }

  /// A task is a row of some columns, with a result in each for each reduction; the threads of a
  /// column share its elements. Or it is a strip of rows.
  KernelFunction emit();

private:
  /// Elements that the thread takes at once.
  struct Step {
    int64_t width;                     // how many: neighbours along the innermost dimension
    llvm::SmallVector<mlir::Value> at; // values of the reduced dimensions, of the first
    mlir::Value inRow; // whether the row has them, else they are the row's last; null if it has
    BodyEmitter::Memory memory;
  };
  using Steps = llvm::MutableArrayRef<Step>;
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange, Steps)>;
  using Combine =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange, mlir::ValueRange)>;

  bool readsTransposed() const;
  bool takesVectors(int64_t neighbours) const;
  int64_t findWidth() const;
  int64_t findColumns() const;
  std::optional<unsigned> findTogether() const;
  void setRows(const Domain &tasks, mlir::Value row);
  mlir::Value isOwn(size_t number);
  void chooseShare(int64_t rows, int64_t columns);
  void emitRow(Steps start);
  void emitStrip(mlir::Value task, int64_t rows);
  void storeColumns(mlir::Value task, int64_t tasks, Steps steps, mlir::ValueRange totals);
  void emitLevel(size_t level);
  void emitOnline(size_t level, llvm::ArrayRef<OnlineSum> sums);
  void emitOutputs();
  llvm::SmallVector<Step> stepsOfRow();
  llvm::SmallVector<Step> stepsToEnd(int64_t begin);
  Step makeStep(mlir::Value first, int64_t offset, int64_t neighbours,
                std::optional<int64_t> end = std::nullopt);
  mlir::Value inElements(mlir::Value lane);
  void forEach(Steps steps, llvm::function_ref<void(Step &)> body);
  llvm::SmallVector<mlir::Value> initialOf(llvm::ArrayRef<prim::ReduceOp> reductions);
  mlir::Value combineNeighbours(prim::ReduceOp reduction, mlir::Value vector);
  void combine(const Reductions &row, Steps steps, llvm::ArrayRef<prim::ReduceOp> reductions,
               llvm::MutableArrayRef<mlir::Value> totals);
  mlir::Value combineLanes(prim::ReduceOp reduction, mlir::Value total);
  void storeFull(Steps steps, size_t depth);
  llvm::SmallVector<mlir::Value> overRow(mlir::ValueRange carried, Body body,
                                         Combine combine = nullptr);
  void onlyWhere(mlir::Value condition, llvm::function_ref<void()> body);

  const Reductions &r;
  mlir::func::FuncOp function;
  const KernelTarget &target;
  BodyEmitter emitter;
  IndexEmitter &index;
  mlir::OpBuilder &b;
  mlir::Location loc;
  unsigned inner;                        // the innermost dimension
  int64_t elements;                      // of a row
  llvm::SmallVector<mlir::Value> shared; // by the rows
  llvm::SmallVector<unsigned> reduced;
  llvm::SmallVector<unsigned> kept; // but for `inner`
  ReductionShare share;
  int64_t width = 1;                // of steps, but for those of what is left at the end of a row
  int64_t laneColumns = 1;          // columns that a lane has, neighbours
  std::vector<Reductions> together; // rows that a task takes at once: `r`, and those behind it
  unsigned sharing = 0;             // the dimension along which they lie
  mlir::Value own; // the first of them that no task before has; null if none has any
  bool inRegisters = false;
  llvm::SmallVector<Step> rowSteps;            // of the whole row, where it stays in registers
  llvm::SmallVector<mlir::Value> columnTotals; // for each step those of `r.columns`
  mlir::Value hasResult; // whether the thread's column is one; null if all are
};

} // namespace accc::codegen

#endif
