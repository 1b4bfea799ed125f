// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that read something transposed, where lanes are threads: its neighbours are the results'
// along another dimension than the innermost. A block takes a tile of the results' innermost
// dimension and that one. It brings what is transposed into the memory that its lanes share, in the
// order in which that lies in memory, and then computes the results in theirs.
#ifndef ACCC_CODEGEN_KERNEL_TILES_H
#define ACCC_CODEGEN_KERNEL_TILES_H

#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Emitters.h"

namespace accc::codegen {

/// What is read through tiles.
struct Tiling {
  /// The loop variables of a tile: along `across` results are neighbours, along `down` what is
  /// read.
  unsigned across, down;
  int64_t width, height; // of a tile
  /// Inputs, and the offsets at which they are read.
  llvm::SmallVector<std::pair<mlir::Value, mlir::AffineExpr>> reads;
};

/// How the loop over loop variables `dims` is done in tiles; nothing if it reads nothing
/// transposed, or its extents are so small that the threads of a warp find neighbours all the same.
std::optional<Tiling> findTiling(exec::KernelOp kernel, const Domain &domain,
                                 llvm::ArrayRef<unsigned> dims, const KernelTarget &target,
                                 llvm::function_ref<void(BodyEmitter &)> emit);

/// The kernel's function: `emit` for every index of the domain.
KernelFunction emitInTiles(exec::KernelOp kernel, mlir::ModuleOp module, const Domain &domain,
                           const Tiling &tiling, const KernelTarget &target, ErrorTable &errors,
                           llvm::function_ref<void(BodyEmitter &)> emit);

} // namespace accc::codegen

#endif
