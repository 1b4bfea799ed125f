// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The iteration space of a kernel, and the loops over it.
#ifndef ACCC_CODEGEN_KERNEL_DOMAIN_H
#define ACCC_CODEGEN_KERNEL_DOMAIN_H

#include "codegen/element/BodyEmitter.h"
#include "codegen/element/KernelTarget.h"

namespace accc::codegen {

/// Extents of the loop variables, one for each dimension of a tensor shape; those of a kernel's
/// iteration space as its KernelSpec has them.
struct Domain {
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<bool> reduced; // dimension is reduced; empty if none is

  explicit Domain(llvm::ArrayRef<int64_t> shape) : extents(shape) {}
  explicit Domain(prim::KernelSpecAttr spec);

  bool isReduced(size_t i) const { return !reduced.empty() && reduced[i]; }
  /// Product of the extents of reduced (or kept) dimensions.
  int64_t count(bool ofReduced) const;
  /// The innermost dimension of extent other than 1, or the last one; -1 for rank 0.
  int64_t innermost() const;
  /// The loop variables as an index: dimension i, or 0 where the extent is 1.
  llvm::SmallVector<mlir::AffineExpr> position(mlir::MLIRContext *context) const;
};

/// What `emit` accesses in vectors of `width` lanes along `dim`.
BodyEmitter::Recorder recordAccesses(exec::KernelOp kernel, const Domain &domain,
                                     const KernelTarget &target,
                                     llvm::function_ref<void(BodyEmitter &)> emit, unsigned dim,
                                     int64_t width, mlir::AffineExpr multiple = nullptr);

/// Where lanes are threads: how many neighbours along loop variable `dim` each takes at once, so
/// that what it accesses there is one aligned piece of memory; 1 where `emit` reads or writes
/// anything in another way. `multiple` as for IndexEmitter::setVector.
int64_t chooseNeighbours(exec::KernelOp kernel, const Domain &domain, unsigned dim,
                         const KernelTarget &target, llvm::function_ref<void(BodyEmitter &)> emit,
                         mlir::AffineExpr multiple = nullptr);

/// Runs the code of `body` where `condition` (i1) holds, else that of `otherwise`, if there is any.
void branch(BodyEmitter &emitter, mlir::Value condition, llvm::function_ref<void()> body,
            llvm::function_ref<void()> otherwise = nullptr);

/// scf.for over [low, high) by `step` (i64); the body leaves the insertion point inside.
void forLoop(BodyEmitter &emitter, mlir::Value low, mlir::Value high, int64_t step,
             llvm::function_ref<void(mlir::Value)> body);

/// The same with values carried around; the body returns the next ones.
llvm::SmallVector<mlir::Value>
forLoop(BodyEmitter &emitter, mlir::Value low, mlir::Value high, int64_t step,
        mlir::ValueRange carried,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);

/// Runs `body` where all of the ranges hold, which are the same for all lanes of a vector.
void whereInside(BodyEmitter &emitter, llvm::ArrayRef<IndexRange> ranges,
                 llvm::function_ref<void()> body);

/// Sets loop variables `dims` of the domain from the linear index `row` (row-major).
void setRow(BodyEmitter &emitter, const Domain &domain, llvm::ArrayRef<unsigned> dims,
            mlir::Value row);

/// The lines of a tensor along a dimension, which a kernel walks element by element, and how they
/// are numbered.
struct Lines {
  /// Sets all loop variables to the first element. Elements along `lanes`, if that is a dimension,
  /// are lines of the lanes of one vector, which have one number.
  Lines(BodyEmitter &emitter, const Domain &domain, unsigned along,
        std::optional<unsigned> lanes = std::nullopt);

  /// Sets the loop variables to the first element of a line.
  void enter(mlir::Value number) const { setRow(emitter, domain, numbered, number); }

  int64_t count = 1;                                // how many numbers there are
  llvm::SmallVector<mlir::AffineExpr> position;     // of an element
  llvm::SmallVector<mlir::AffineExpr> withoutAlong; // the same in a tensor without the dimension
  llvm::SmallVector<unsigned> numbered;             // dimensions

private:
  BodyEmitter &emitter;
  const Domain &domain;
};

/// Splits `rows` rows of `rowElements` elements into tasks and loops over the rows of the tasks
/// that this call of the function does. Returns the number of all tasks.
int64_t forEachRow(BodyEmitter &emitter, mlir::func::FuncOp function, int64_t rows,
                   int64_t rowElements, llvm::function_ref<void(mlir::Value row)> body);

/// Where lanes are threads: runs `body` in one for each index of a tensor of this shape, loop
/// variables 0 to rank - 1; the next one numbers them all. Returns the number of all tasks.
int64_t forEachElement(BodyEmitter &emitter, mlir::func::FuncOp function,
                       llvm::ArrayRef<int64_t> shape, llvm::function_ref<void()> body);

} // namespace accc::codegen

#endif
