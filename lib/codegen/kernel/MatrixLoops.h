// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels on stacks of matrices are written with: loops, elements and scalars of one matrix.
#ifndef ACCC_CODEGEN_KERNEL_MATRIXLOOPS_H
#define ACCC_CODEGEN_KERNEL_MATRIXLOOPS_H

#include "codegen/kernel/Domain.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace accc::codegen {

/// Lanes that share the iterations of a loop: this one's number among so many, a power of two, or
/// null where one computes all.
struct Lanes {
  mlir::Value lane;
  int64_t count = 1;
};

/// Columns [low, high) of a matrix, at most so many.
struct Columns {
  mlir::Value low, high;
  int64_t most;
};

/// Emits the code for the matrix that loop variable 0 numbers. A task has a matrix, or some columns
/// of one; on a GPU its lanes are the threads of a block, which share the iterations of some loops
/// (forOwn, forShared) and compute all else alike. What one lane writes others read only after a
/// wait.
class MatrixLoops {
public:
  MatrixLoops(BodyEmitter &emitter, mlir::Type element, Lanes lanes)
      : emitter(emitter), b(emitter.builder()), loc(emitter.loc()), element(element), all(lanes) {}

  using Body = llvm::function_ref<void(mlir::Value)>;
  using Step = llvm::function_ref<mlir::Value(mlir::Value i, mlir::Value carried)>;

  // ---- loops over [low, high), an iteration at a time in all lanes ----
  void forEach(mlir::Value low, mlir::Value high, Body body) {
    forLoop(emitter, low, high, 1, body);
  }
  /// With one value carried around.
  mlir::Value fold(mlir::Value low, mlir::Value high, mlir::Value initial, Step step) {
    return foldOf(Lanes(), low, high, initial, step);
  }
  /// Runs `body` again, up to `most` times, while it gives true (i1).
  void repeat(int64_t most, llvm::function_ref<mlir::Value()> body);
  /// Runs `body` where `condition` holds, in all lanes or in none.
  void where(mlir::Value condition, llvm::function_ref<void()> body) {
    branch(emitter, condition, body);
  }
  /// The iterations are shared among the lanes, in the same way wherever `low` is the same; they do
  /// not wait.
  void forOwn(mlir::Value low, mlir::Value high, Body body) { forOwn(all, low, high, body); }
  void forOwn(Lanes among, mlir::Value low, mlir::Value high, Body body);
  bool areShared() const { return all.lane != nullptr; }
  /// The lanes as a grid, for a loop over rows around one over columns: those that share the rows,
  /// and those that share the columns, of which there are at most `columns`, as neighbours.
  std::pair<Lanes, Lanes> inRows(int64_t columns);
  /// The same, and all lanes wait at the end.
  void forShared(mlir::Value low, mlir::Value high, Body body) {
    forOwn(low, high, body);
    wait();
  }
  /// Runs `body` in one lane; all wait.
  void once(llvm::function_ref<void()> body);
  void wait();

  // ---- elements ----
  /// Of an operand, and of an output, [matrices, ...].
  mlir::Value read(mlir::Value tensor, mlir::ValueRange at);
  mlir::Value load(unsigned output, mlir::ValueRange at);
  void store(unsigned output, mlir::ValueRange at, mlir::Value value);

  // ---- indices ----
  mlir::Value number(int64_t n) { return emitter.indices().constant(n); }
  mlir::Value next(mlir::Value i) { return add(i, number(1)); }
  mlir::Value add(mlir::Value a, mlir::Value c) { return b.create<mlir::arith::AddIOp>(loc, a, c); }
  mlir::Value subtract(mlir::Value a, mlir::Value c) {
    return b.create<mlir::arith::SubIOp>(loc, a, c);
  }
  mlir::Value isSame(mlir::Value a, mlir::Value c) {
    return b.create<mlir::arith::CmpIOp>(loc, mlir::arith::CmpIPredicate::eq, a, c);
  }
  mlir::Value isBefore(mlir::Value a, mlir::Value c) {
    return b.create<mlir::arith::CmpIOp>(loc, mlir::arith::CmpIPredicate::slt, a, c);
  }
  /// i if it lies in [0, bound), else a data error.
  mlir::Value checked(mlir::Value i, int64_t bound, llvm::StringRef message);
  mlir::Value toCount(mlir::Value i) {
    return b.create<mlir::arith::TruncIOp>(loc, b.getI32Type(), i);
  }
  mlir::Value fromCount(mlir::Value i) {
    return b.create<mlir::arith::ExtSIOp>(loc, b.getI64Type(), i);
  }

  // ---- scalars of the matrices' element type ----
  mlir::Value real(double value) {
    return b.create<mlir::arith::ConstantOp>(loc, b.getFloatAttr(element, value));
  }
  mlir::Value plus(mlir::Value a, mlir::Value c) {
    return b.create<mlir::arith::AddFOp>(loc, a, c);
  }
  mlir::Value minus(mlir::Value a, mlir::Value c) {
    return b.create<mlir::arith::SubFOp>(loc, a, c);
  }
  mlir::Value times(mlir::Value a, mlir::Value c) {
    return b.create<mlir::arith::MulFOp>(loc, a, c);
  }
  mlir::Value over(mlir::Value a, mlir::Value c) {
    return b.create<mlir::arith::DivFOp>(loc, a, c);
  }
  mlir::Value absolute(mlir::Value a);
  mlir::Value squareRoot(mlir::Value a);
  mlir::Value exponential(mlir::Value a);
  mlir::Value logarithm(mlir::Value a);
  /// The magnitude of `a` with the sign of `c`.
  mlir::Value withSign(mlir::Value a, mlir::Value c);
  mlir::Value isZero(mlir::Value a) { return compare(mlir::arith::CmpFPredicate::OEQ, a, real(0)); }
  mlir::Value isGreater(mlir::Value a, mlir::Value c) {
    return compare(mlir::arith::CmpFPredicate::OGT, a, c);
  }
  mlir::Value isLess(mlir::Value a, mlir::Value c) { return isGreater(c, a); }
  /// The distance of 1 to the next greater number.
  double epsilon() const;
  mlir::Value either(mlir::Value a, mlir::Value c) {
    return b.create<mlir::arith::OrIOp>(loc, a, c);
  }
  mlir::Value boolean(bool value) {
    return b.create<mlir::arith::ConstantOp>(loc, b.getBoolAttr(value));
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value c) {
    return b.create<mlir::arith::SelectOp>(loc, condition, a, c);
  }
  /// The sum of term(i) over [low, high), in any order.
  mlir::Value sum(mlir::Value low, mlir::Value high,
                  llvm::function_ref<mlir::Value(mlir::Value)> term) {
    return sumOf(Lanes(), low, high, term);
  }
  /// The same, of which each lane computes a part. All lanes get it.
  mlir::Value sharedSum(mlir::Value low, mlir::Value high,
                        llvm::function_ref<mlir::Value(mlir::Value)> term);
  /// The first i of `initial` and [low, high), which lie behind it, that none is better than; each
  /// lane looks among a part. Nothing is better than what is not a number.
  mlir::Value sharedBest(mlir::Value low, mlir::Value high, mlir::Value initial,
                         llvm::function_ref<mlir::Value(mlir::Value i, mlir::Value best)> isBetter);

  BodyEmitter &emitter;

private:
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value c) {
    return b.create<mlir::arith::CmpFOp>(loc, predicate, a, c);
  }
  llvm::SmallVector<mlir::AffineExpr> position(mlir::ValueRange at, llvm::ArrayRef<int64_t> shape);
  /// Where lane `among` starts in a loop from `low` on.
  mlir::Value firstOf(Lanes among, mlir::Value low);
  mlir::Value foldOf(Lanes among, mlir::Value low, mlir::Value high, mlir::Value initial,
                     Step step);
  mlir::Value sumOf(Lanes among, mlir::Value low, mlir::Value high,
                    llvm::function_ref<mlir::Value(mlir::Value)> term);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type element;
  Lanes all;
};

/// One function for each op of Matrices.td and Recurrences.td: results are the kernel's outputs, in
/// order. `columns`: those of the result that the task computes.
void emitCholesky(MatrixLoops &loops, prim::CholeskyOp op);
void emitLu(MatrixLoops &loops, prim::LuOp op);
void emitPivotedRows(MatrixLoops &loops, prim::PivotedRowsOp op);
void emitTriangularSolve(MatrixLoops &loops, prim::TriangularSolveOp op, Columns columns);
void emitHouseholder(MatrixLoops &loops, prim::HouseholderOp op);
void emitJacobiEigh(MatrixLoops &loops, prim::JacobiEighOp op);
void emitJacobiSvd(MatrixLoops &loops, prim::JacobiSvdOp op);
void emitLinearRecurrence(MatrixLoops &loops, prim::LinearRecurrenceOp op);
void emitLogRecurrence(MatrixLoops &loops, prim::LogRecurrenceOp op);

} // namespace accc::codegen

#endif
