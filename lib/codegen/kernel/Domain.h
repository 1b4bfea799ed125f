// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The iteration space of a kernel, and the loops over it.
#ifndef ACCC_CODEGEN_KERNEL_DOMAIN_H
#define ACCC_CODEGEN_KERNEL_DOMAIN_H

#include "codegen/kernel/BodyEmitter.h"
#include "support/SizeThreshold.h"

namespace accc::codegen {

/// How many elements make a task worth handing to another thread.
inline constexpr int64_t kTaskElements = sizeThreshold(16384);

/// Extents of the loop variables, one for each dimension of a tensor shape. Adjacent dimensions
/// that every access walks as one are collapsed: the inner one gets the product, the outer one
/// becomes 1.
struct Domain {
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<bool> reduced; // dimension is reduced; empty if none is

  explicit Domain(llvm::ArrayRef<int64_t> shape) : extents(shape) {}

  bool isReduced(size_t i) const { return !reduced.empty() && reduced[i]; }
  /// Product of the extents of reduced (or kept) dimensions.
  int64_t count(bool ofReduced) const;
  /// Collapses what the recorded index expressions allow.
  void collapse(llvm::ArrayRef<mlir::AffineExpr> expressions);
  /// The innermost dimension of extent other than 1, or the last one; -1 for rank 0.
  int64_t innermost() const;
  /// The loop variables as an index: dimension i, or 0 where the extent is 1.
  llvm::SmallVector<mlir::AffineExpr> position(mlir::MLIRContext *context) const;
};

/// Runs `emit` on a scratch function whose loops all have one iteration and returns the index
/// expressions that it used.
llvm::SmallVector<mlir::AffineExpr> recordAccesses(exec::KernelOp kernel, const Domain &domain,
                                                   llvm::function_ref<void(BodyEmitter &)> emit);

/// An empty kernel function at the end of the module.
mlir::func::FuncOp createKernelFunction(exec::KernelOp kernel, mlir::ModuleOp module);

/// scf.for over [low, high) by `step` (i64); the body leaves the insertion point inside.
void forLoop(BodyEmitter &emitter, mlir::Value low, mlir::Value high, int64_t step,
             llvm::function_ref<void(mlir::Value)> body);

/// The same with values carried around; the body returns the next ones.
llvm::SmallVector<mlir::Value>
forLoop(BodyEmitter &emitter, mlir::Value low, mlir::Value high, int64_t step,
        mlir::ValueRange carried,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);

/// Loops over [low, high) of loop variable `dim` (extent `extent`) in vectors of the current width,
/// the last one masked. `low` is a multiple of the width. `body` gets and returns the carried
/// values. `exact`: high - low is known to be a multiple of the width.
llvm::SmallVector<mlir::Value> vectorLoop(
    BodyEmitter &emitter, unsigned dim, int64_t extent, mlir::Value low, mlir::Value high,
    bool exact, mlir::ValueRange carried,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange, mlir::Value mask)> body);

/// Sets loop variables `dims` of the domain from the linear index `row` (row-major).
void setRow(BodyEmitter &emitter, const Domain &domain, llvm::ArrayRef<unsigned> dims,
            mlir::Value row);

/// Splits `rows` rows of `rowElements` elements into tasks and loops over the rows of the tasks
/// [begin, end) of the function. Returns the number of tasks.
int64_t forEachRow(BodyEmitter &emitter, mlir::func::FuncOp function, int64_t rows,
                   int64_t rowElements, llvm::function_ref<void(mlir::Value row)> body);

/// Lanes of a short vector for `extent` elements: the register's width, or the power of two that
/// holds the extent. `unroll` registers are taken as one vector where there is enough to fill them.
int64_t chooseWidth(int64_t extent, const KernelOptions &options, int64_t unroll = 1);

} // namespace accc::codegen

#endif
