// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/Budget.h"
#include "budget/ChunkWriter.h"
#include "budget/Passes.h"
#include "support/HumanBytes.h"
#include "support/TensorBytes.h"
#include "target/TargetedPass.h"

#include "llvm/Support/FormatVariadic.h"

namespace accc {
#define GEN_PASS_DEF_COMPUTEINCHUNKSPASS
#include "budget/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;

/// The large products of the block, the last one first.
static SmallVector<Operation *> largeProducts(Block &block, int64_t leastBytes) {
  SmallVector<Operation *> products;
  for (Operation &op : llvm::reverse(block))
    if (isa<MatrixProduct>(op) &&
        tensorBytes(cast<RankedTensorType>(op.getResult(0).getType())) >= leastBytes)
      products.push_back(&op);
  return products;
}

static void computeInChunks(func::FuncOp function, const Costs &costs, const ChunkSizes &sizes,
                            Economy &economy) {
  constexpr int64_t kMostChunks = 4096; // so many keep programs short
  Block &block = function.front();
  int64_t nextChunk = 0, largest = 0, tensors = 0;
  SmallVector<Operation *> seeds = largeProducts(block, sizes.leastBytes);
  while (!seeds.empty() && nextChunk < kMostChunks) {
    std::optional<ChunkedRegion> region =
        findRegion(seeds.pop_back_val()->getResult(0), sizes, costs);
    if (!region)
      continue;
    llvm::erase_if(seeds, [&](Operation *seed) { return region->contains(seed); });
    nextChunk = writeInChunks(*region, block, nextChunk);
    economy.cost += region->cost;
    largest = std::max(largest, region->largestBytes);
    tensors += region->tensors;
  }
  if (tensors > 0)
    economy.notes.push_back(llvm::formatv(
        "{0}: {1} tensors between matrix products, of up to {2}, are computed in {3} chunks",
        function.getSymName(), tensors, humanBytes(static_cast<double>(largest), 2), nextChunk));
}

Economy accc::computeInChunks(ModuleOp module, const Costs &costs, int64_t chunkBytes) {
  ChunkSizes sizes{.leastBytes = costs.getTarget().getChunkBytes(), .chunkBytes = chunkBytes};
  Economy economy;
  for (auto function : module.getOps<func::FuncOp>())
    ::computeInChunks(function, costs, sizes, economy);
  return economy;
}

namespace {
struct ComputeInChunksPass
    : TargetedPass<accc::impl::ComputeInChunksPassBase<ComputeInChunksPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    int64_t bytes = chunkBytes > 0 ? chunkBytes.getValue() : getTarget().getChunkBytes();
    Economy economy;
    ::computeInChunks(getOperation(), {getTarget(), tf32},
                      {std::max(leastBytes.getValue(), bytes), bytes, always}, economy);
  }
};
} // namespace
