// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel would read, found by following the ops' element rules without emitting anything.
#ifndef ACCC_FUSION_ACCESSANALYSIS_H
#define ACCC_FUSION_ACCESSANALYSIS_H

#include "ir/prim/Prim.h"
#include "support/CompileLog.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace accc {

/// Follows values back through the ops that `isInside` takes, at symbolic indices.
class AccessAnalysis final : public ElementEmitter {
public:
  /// Loop variable i lies in [0, extents[i]).
  AccessAnalysis(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> extents,
                 llvm::function_ref<bool(mlir::Operation *)> isInside);
  AccessAnalysis(const AccessAnalysis &) = delete;
  AccessAnalysis &operator=(const AccessAnalysis &) = delete;
  ~AccessAnalysis() { count(Counter::fusion_evaluations, static_cast<int64_t>(seen.size())); }

  /// The loop variables as an index: dimension i, or 0 where the extent is 1.
  llvm::SmallVector<mlir::AffineExpr> identity() const;
  /// How many symbols stand for indices that are data.
  unsigned numSymbols() const { return static_cast<unsigned>(symbolBounds.size()); }

  /// Each (value, index) of a reduction inside that is read.
  struct Read {
    mlir::Value value;
    mlir::AffineExpr offset; // row-major
  };
  llvm::SmallVector<Read> reductionReads;
  /// Values from outside that are read.
  llvm::SetVector<mlir::Value> leaves;
  /// Where this is set, it gets every index expression that decides which memory is read, as a
  /// row-major offset, or whether it is.
  llvm::SetVector<mlir::AffineExpr> *accesses = nullptr;
  /// How many (value, index) pairs were computed: more than there are ops means recomputation.
  int64_t evaluations = 0;
  /// The same for expensive ops.
  int64_t expensiveEvaluations = 0;
  /// How many elements the windows read whose result is read by windows again.
  int64_t nestedWindowReads = 0;

  mlir::AffineExpr offsetOf(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index) const;

  mlir::OpBuilder &builder() override { return b; }
  mlir::Value element(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> index) override;
  mlir::Value elementOr(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> index,
                        mlir::TypedAttr) override;
  mlir::Value apply(llvm::ArrayRef<mlir::Value>,
                    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>) override {
    return {};
  }
  mlir::Value constant(mlir::TypedAttr) override { return {}; }
  mlir::Value indexValue(mlir::AffineExpr expression, mlir::Type) override;
  mlir::AffineExpr symbol(mlir::Value, int64_t bound, llvm::StringRef) override;
  mlir::Value select(llvm::ArrayRef<IndexRange>, llvm::function_ref<mlir::Value()> inside,
                     llvm::function_ref<mlir::Value()> outside) override;

private:
  void record(mlir::AffineExpr expression);

  mlir::OpBuilder b;
  llvm::SmallVector<int64_t> extents, symbolBounds;
  llvm::function_ref<bool(mlir::Operation *)> isInside;
  llvm::DenseSet<std::pair<mlir::Value, mlir::AffineMap>> seen;
  int windowDepth = 0; // how many windows read what is being followed
};

} // namespace accc

#endif
