// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/cpu/CpuTarget.h"

#include "ir/prim/Prim.h"
#include "support/SizeThreshold.h"

#include <limits>

using namespace accc;

// ---- Costs ----

// 0.2 us at 20 GB/s: most launches stay on the thread that makes them.
int64_t CpuTarget::getLaunchBytes() const { return sizeThreshold(4096); }
int64_t CpuTarget::getExpensiveOpBytes() const { return 4; }
// 50 to 100 GFLOP/s a core of AVX2, of the bytes that a core gets.
FlopsPerByte CpuTarget::getFlopsPerByte(mlir::Type, bool) const {
  return {.products = 10, .convolutions = 10};
}
// 16 KiB of f32, half of a nearest cache.
int64_t CpuTarget::getCachedElements() const { return sizeThreshold(4096); }

// ---- Kernels ----

// Longer bodies spill registers; more functions wait for arithmetic already; more buffers are more
// streams than the hardware prefetches.
KernelLimits CpuTarget::getKernelLimits() const {
  return {.ops = 96,
          .buffers = 32,
          .expensiveOps = 16,
          .evaluationsPerByte = 0,  // caches hold what a window reads
          .windowReadsPerByte = 2}; // from the nearest cache in the time of a byte of memory
}

// Fewer fill no vector register.
RepeatedRuns CpuTarget::getRepeatedRuns() const { return {.least = 8, .most = 512}; }

// A kernel that leaves the innermost dimensions has tasks for blocks of these only, each of which
// walks all rows; with few columns there are too few tasks, and with many rows a block falls out of
// the cache between two passes over it. Other results are a task each.
std::optional<ReductionParts> CpuTarget::getReductionParts(int64_t elements, int64_t columns,
                                                           ReducedDimensions reduced) const {
  constexpr int64_t kFewColumns = 512;
  constexpr int64_t kTasks = 16; // for the threads of most machines
  if (reduced == ReducedDimensions::Leading && columns > 1) {
    constexpr int64_t kBlock = 64, kLeast = 4;
    if (columns >= kFewColumns || elements < sizeThreshold(1 << 16))
      return std::nullopt;
    // Each of which stays in the cache of one core.
    return ReductionParts{.least = kLeast,
                          .leastRows = 8,
                          .enough = kTasks,
                          .enoughElements = sizeThreshold(1 << 17),
                          .few = columns <= kBlock ? kLeast : 0,
                          .cutInto = kTasks};
  }
  // A task of fewer takes less time than threads need to wake up.
  const int64_t leastElements = sizeThreshold(1 << 15);
  if (reduced == ReducedDimensions::Outer && columns > 1)
    return std::nullopt;
  if (columns == 0 || columns >= kTasks || elements / columns < 2 * leastElements)
    return std::nullopt;
  return ReductionParts{.least = 2,
                        .leastRows = leastElements,
                        .enough = kTasks / columns,
                        .enoughElements = elements,
                        .few = kTasks / columns,
                        .cutInto = kTasks / columns};
}

// Rows stay in a cache from pass to pass.
// A core walks the rows of a kernel in one direction, which its caches serve both kernels.
int64_t CpuTarget::getStripRows(int64_t, int64_t) const { return 0; }

// The walk over a line reads it once, as fast as memory gives it.
std::optional<int64_t> CpuTarget::getScanRun(int64_t, int64_t, bool) const { return std::nullopt; }

// A launch costs less than streams of memory that have nothing to do with each other.
int64_t CpuTarget::getSmallReductionBytes() const { return 0; }

int64_t CpuTarget::getMaxRowElements() const { return std::numeric_limits<int64_t>::max(); }

// By a heap, in place.
std::optional<int64_t> CpuTarget::getMaxSortedElements(int64_t) const { return std::nullopt; }

// A gather fuses and reads whole vectors. For rows that have fewer updates than others it reads in
// vain, where a scatter adds no more than there are.
bool CpuTarget::gathersUpdates(int64_t rows, int64_t updates, int64_t most) const {
  return most == 1 ? rows <= 4 * updates : most <= 8 && 4 * rows * most <= 5 * updates;
}

// As many stores as zeros need that a scatter adds to.
int64_t CpuTarget::getMaxComparedUpdates() const { return 1; }

// There are few tasks, each of which walks the indices once.
bool CpuTarget::sortsUpdates(int64_t, int64_t, int64_t, bool) const { return false; }

// What stays in the last cache; products of fewer rows take longer.
int64_t CpuTarget::getChunkBytes() const { return sizeThreshold(1 << 24); }

// As DistributedDataParallel's buckets.
int64_t CpuTarget::getBucketBytes() const { return sizeThreshold(25 << 20); }

// Vectors of them come from the nearest cache.
bool CpuTarget::computesCounts() const { return false; }

// ---- Libraries ----

// Products of views are as slow as copies and products of these: what a kernel has just copied is
// in the cache, and oneDNN copies it into blocks of its own again (ViT-B/16 and Swin-T with 4
// images).
bool CpuTarget::runsInLibrary(mlir::Operation *op) const {
  auto gemm = llvm::dyn_cast<prim::GemmOp>(op);
  return prim::isCall(op) && !llvm::isa<AttentionLike>(op) && !(gemm && gemm.getViews());
}

bool CpuTarget::hasAttention() const { return false; }

// oneDNN's sgemm, which most products take, has no epilogue; kernels add a bias to what they read.
bool CpuTarget::addsBias(prim::DotGeneralOp) const { return false; }

size_t CpuTarget::getMaxBatchDimensions() const { return 4; }

// oneDNN copies both operands into blocks of its own, wherever rows begin.
std::optional<ContractionAlignment> CpuTarget::getContractionAlignment(mlir::Type, bool) const {
  return std::nullopt;
}

// oneDNN copies what is not channels last into a layout of its own, and results back: one read and
// one write. The loops for f64 (lib/runtime/cpu/DoubleCalls.cpp) go along rows, which lie together
// channels first.
std::optional<ConvolutionLayout> CpuTarget::getConvolutionLayout(mlir::Type element, bool) const {
  if (element.isF64())
    return std::nullopt;
  return ConvolutionLayout{.copiedBytes = 2, .launchedBytes = 0, .filtersLast = false};
}

bool CpuTarget::hasTf32() const { return false; }

// Products of fewer columns take longer, larger blocks leave more to kernels.
int64_t CpuTarget::getFactorizationBlock() const { return 32; }

// The panels of getPanelWidth() are what oneDNN has words for in f32.
int64_t CpuTarget::getMaxPackedRows(mlir::Type element) const { return element.isF32() ? 64 : 0; }

std::optional<int64_t> CpuTarget::getPanelWidth(int64_t depth, int64_t columns, size_t uses) const {
  constexpr size_t kLeastUses = 4; // the copy takes as long as one or two of the products
  const int64_t leastElements = sizeThreshold(1 << 14); // less stays in the nearest cache
  constexpr int64_t kRowMultiple = 16; // rows of a panel that oneDNN's kernels take at a time
  if (uses < kLeastUses || depth * columns < leastElements || depth % kRowMultiple)
    return std::nullopt;
  for (int64_t width : {64, 48, 32, 16}) // the best first: a few vectors of any CPU
    if (columns % width == 0 && columns > width)
      return width;
  return std::nullopt;
}
