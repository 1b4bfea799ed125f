// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops over the reduced dimensions of a kernel, where lanes are those of vectors.
//
// A long sum in f32, one term added after the other, loses digits: of a million equal numbers the
// third one is wrong. So sums are cascades: a loop adds up totals of the loops within, dimensions
// that are longer are walked in blocks, and blocks of blocks, and no total has more terms than
// kMostTerms. (PyTorch's sums on a CPU are cascades, too; the error grows with the logarithm of the
// number of terms.)
#ifndef ACCC_CODEGEN_KERNEL_REDUCTIONLOOPS_H
#define ACCC_CODEGEN_KERNEL_REDUCTIONLOOPS_H

#include "codegen/kernel/Domain.h"

namespace accc::codegen {

/// The most terms that one total has.
constexpr int64_t kMostTerms = 32;

/// A loop over a dimension, or over a block of it.
struct ReductionLoop {
  unsigned dim;
  int64_t step;  // elements of the dimension that a turn takes, fewer at its end
  bool cascades; // each turn has a total of its own
};

/// Loops around runs of elements of the innermost reduced dimension.
struct ReductionNest {
  llvm::SmallVector<ReductionLoop> loops; // the outermost first
  std::optional<unsigned> runDim;         // none if all reduced dimensions have the extent 1
};

/// The nest over the reduced dimensions without blocks; a run is all of the innermost one.
ReductionNest planLoops(const Domain &domain);

/// The nest that adds up cascades. A run has at most `mostTerms` terms of `termElements` elements
/// each. With `runsAreTerms` it has a total of its own, else the terms are those of the loop around
/// it.
ReductionNest planCascade(const Domain &domain, int64_t termElements, int64_t mostTerms,
                          bool runsAreTerms);

/// The run [low, high), null if there is no dimension of runs. Gets and returns what is carried.
using RunBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::ValueRange carried, mlir::Value low, mlir::Value high)>;
/// Emits a turn: gets what it starts from and returns its total.
using CascadeTurn = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange start)>;
/// Lets `turn` start from the neutral element and combines what is carried with its total.
using CascadeBody =
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange carried, CascadeTurn turn)>;

/// Emits the nest around `body`, and `cascade` around the turns of loops that cascade.
llvm::SmallVector<mlir::Value> emitNest(BodyEmitter &emitter, const Domain &domain,
                                        const ReductionNest &nest, mlir::ValueRange carried,
                                        RunBody body, CascadeBody cascade = nullptr);

} // namespace accc::codegen

#endif
