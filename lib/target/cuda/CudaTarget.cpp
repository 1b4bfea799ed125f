// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/cuda/CudaTarget.h"

#include "ir/prim/AttentionRules.h"
#include "ir/prim/ContractionSide.h"
#include "ir/prim/StridedView.h"
#include "ir/prim/Tensor.h"
#include "support/SizeThreshold.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace accc;

// ---- Costs ----

// 1 us at 4 TB/s.
int64_t CudaTarget::getLaunchBytes() const { return sizeThreshold(1 << 22); }
// Some 30 instructions, of which 30 T/s are issued.
int64_t CudaTarget::getExpensiveOpBytes() const { return 4; }
/// How many times as many factors of this type as of TF32 the tensor cores multiply.
static int64_t speedOverTf32(mlir::Type element) { return element.isF32() ? 1 : 2; }

/// Whether the tensor cores multiply factors of this type.
static bool usesTensorCores(mlir::Type element, bool tf32) {
  return element.isF16() || element.isBF16() || (element.isF32() && tf32);
}

// Products 50 TFLOP/s of full f32 and some 200 of TF32, convolutions 40 and some 100, at 2.6 TB/s
// (H100). Of 16 bits twice as many as of TF32, as the tensor cores' peaks are.
FlopsPerByte CudaTarget::getFlopsPerByte(mlir::Type element, bool tf32) const {
  if (!usesTensorCores(element, tf32))
    return {.products = 20, .convolutions = 15};
  auto speed = static_cast<double>(speedOverTf32(element));
  return {.products = 80 * speed, .convolutions = 40 * speed};
}
// What stays in the second-level cache takes as long as a launch, not longer.
int64_t CudaTarget::getCachedElements() const { return sizeThreshold(1 << 14); }

// ---- Kernels ----

KernelLimits CudaTarget::getKernelLimits() const {
  return {.ops = 96,
          .buffers = 32,
          .expensiveOps = 16,
          .evaluationsPerByte = 4,  // an H100 has 10 instructions of a lane for a byte of memory
          .windowReadsPerByte = 2}; // from the nearest cache in the time of a byte of memory
}

// The threads of a warp compute what they have in common once each, in as many instructions: the
// value of a run of fewer is computed in few of them; one of more fills blocks of its own.
RepeatedRuns CudaTarget::getRepeatedRuns() const { return {.least = 8, .most = 512}; }

// A kernel that leaves the innermost dimensions has a thread for each column only, which walks all
// rows, or a block for a few of them: parts until the threads of a large GPU are busy. Of other
// results each has a block at most, which reads a row that its registers do not hold again for
// every pass. Where there is a block for each multiprocessor, parts save no more than they cost
// unless they are large; else a warp with some elements for each lane is one.
std::optional<ReductionParts> CudaTarget::getReductionParts(int64_t elements, int64_t columns,
                                                            ReducedDimensions reduced) const {
  const int64_t manyColumns = sizeThreshold(1 << 15), manyElements = sizeThreshold(1 << 14);
  const int64_t manyRows = sizeThreshold(1 << 11);
  constexpr int64_t kLeast = 4, kMostParts = 512;
  bool areColumns = reduced != ReducedDimensions::Inner && columns > 1;
  if (areColumns && columns < manyColumns && elements >= manyElements) {
    constexpr int64_t kPartedColumns = 1 << 14; // of a part, 16 threads or more each
    return ReductionParts{.least = kLeast,
                          .leastRows = 16,
                          .enough = kMostParts,
                          .enoughElements = sizeThreshold(1 << 13),
                          .few = elements / columns >= manyRows ? kLeast : 0,
                          .cutInto = std::clamp(kPartedColumns / columns, kLeast, kMostParts)};
  }
  constexpr int64_t kMultiprocessors = 132, kBlocks = 512; // several for each
  if (areColumns || columns == 0 || columns >= kBlocks || elements / columns <= getMaxRowElements())
    return std::nullopt;
  constexpr int64_t kFewBlocks = 32; // draw less than memory gives
  return ReductionParts{.least = 2,
                        .leastRows = sizeThreshold(columns < kMultiprocessors ? 1 << 7 : 1 << 12),
                        .enough = kBlocks / columns,
                        .enoughElements = elements,
                        .few = (kFewBlocks + columns - 1) / columns,
                        .cutInto = kBlocks / columns};
}

// A block takes the rows of a strip one after the other. Fewer strips leave multiprocessors without
// work; longer ones write fewer parts beside what they read.
int64_t CudaTarget::getStripRows(int64_t rows, int64_t elements) const {
  constexpr int64_t kLeastRows = 4, kStrips = 512;
  constexpr int64_t kMostElements = 1 << 12; // what threads keep of a row, in registers
  const int64_t leastStrips = sizeThreshold(128);
  const int64_t manyElements = sizeThreshold(1 << 18); // of a row of each strip
  if (elements == 0 || elements > kMostElements)
    return 0;
  int64_t strips = std::max(kStrips, manyElements / elements);
  for (int64_t strip = std::max(kLeastRows, rows / strips); strip >= kLeastRows; --strip)
    if (rows % strip == 0)
      return rows / strip >= leastStrips ? strip : 0;
  return 0;
}

// A warp takes some 4 ns for each of its elements along a row, a thread 20 ns for each of a column:
// two more launches save time where there are thousands. Runs until all warps, or threads, are
// busy.
std::optional<int64_t> CudaTarget::getScanRun(int64_t lines, int64_t extent, bool isRow) const {
  const int64_t longest = sizeThreshold(isRow ? 1 << 12 : 1 << 10);
  const int64_t busy = isRow ? 1 << 12 : 1 << 15, least = sizeThreshold(isRow ? 1 << 9 : 1 << 7);
  if (extent < longest || lines >= busy)
    return std::nullopt;
  return std::max(least, extent * lines / busy);
}

// They take about the time of a launch, and too few threads to keep a large GPU busy.
int64_t CudaTarget::getSmallReductionBytes() const { return sizeThreshold(1 << 22); }

// 16 for each of the threads of the largest block.
int64_t CudaTarget::getMaxRowElements() const { return sizeThreshold(1 << 14); }

// In a block's shared memory, with the place of each element; the sorting network is made for
// powers of two.
std::optional<int64_t> CudaTarget::getMaxSortedElements(int64_t elementBytes) const {
  constexpr int64_t kPlaceBytes = 4;
  return sizeThreshold(static_cast<int64_t>(
      llvm::bit_floor(static_cast<uint64_t>(kCudaSharedBytes / (elementBytes + kPlaceBytes)))));
}

// Threads that read in vain, for rows that have fewer updates than others, find the same in a
// cache; a scatter looks for each row's among all.
bool CudaTarget::gathersUpdates(int64_t rows, int64_t updates, int64_t most) const {
  return most == 1 ? rows <= 4 * updates : rows * most <= 3 * updates;
}

// A comparison and an addition for each, of which a byte's time has some ten; else two launches, of
// which one sorts lines, and a few searches for each warp.
int64_t CudaTarget::getMaxComparedUpdates() const { return 16; }

// A kernel looks through all indices in every task, of which each has as many rows as a warp has
// lanes, or one where there are few rows: a byte's time for an index. Sorting takes a launch for
// blocks, which is a long one, and two for every time that what is sorted doubles.
bool CudaTarget::sortsUpdates(int64_t rows, int64_t updates, int64_t together, bool known) const {
  constexpr int64_t kLanes = 32, kBusyTasks = 2048;
  if (known)
    return updates > sizeThreshold(1 << 9);
  int64_t tasks =
      std::max<int64_t>(llvm::divideCeil(rows, kLanes), std::min<int64_t>(rows, kBusyTasks));
  int64_t blocks = llvm::divideCeil(together, *getMaxSortedElements(sizeof(int64_t)));
  auto merges = static_cast<int64_t>(llvm::Log2_64_Ceil(static_cast<uint64_t>(blocks)));
  constexpr int64_t kBlockSort = 4, kBytes = 32; // launches; of an update, moved for each merge
  return tasks * updates >
         (kBlockSort + 2 * merges) * getLaunchBytes() + (merges + 2) * kBytes * updates;
}

// What fills the device and stays in its cache.
int64_t CudaTarget::getChunkBytes() const { return sizeThreshold(1 << 25); }

// As DistributedDataParallel's buckets.
int64_t CudaTarget::getBucketBytes() const { return sizeThreshold(25 << 20); }

// Every thread knows its place; what it reads are eight bytes, as a rule, for an element of four.
bool CudaTarget::computesCounts() const { return true; }

// ---- Libraries ----

/// Whether each row of each view that the op has, along the dimension that is contiguous, begins at
/// 16 bytes; of all of a tensor, rows begin where they do.
static bool hasAlignedViews(mlir::Operation *op) {
  auto views = op->getAttrOfType<mlir::ArrayAttr>("views");
  return !views || llvm::all_of(views.getAsValueRange<mlir::TypeAttr>(), [](mlir::Type type) {
    auto memref = llvm::cast<mlir::MemRefType>(type);
    auto view = prim::StridedView::of(memref);
    auto isAligned = [&](int64_t elements) {
      return elements * memref.getElementTypeBitWidth() % 128 == 0;
    };
    return *view == prim::StridedView::all(view->shape) ||
           (isAligned(view->offset) && llvm::all_of(view->strides, [&](int64_t stride) {
              return stride == 1 || isAligned(stride);
            }));
  });
}

/// cuDNN's kernels: 16-bit floats, and up to 128 features, of which eight are 16 bytes. Those of
/// gradients keep 16 bits for each score of a head of keys, in tiles, for which the runtime gives
/// them 1 GB (CudnnAttention.cpp).
static bool hasKernelOf(AttentionLike attention) {
  prim::AttentionExtents e(attention);
  auto fits = [](int64_t features) { return features % 8 == 0 && features > 0 && features <= 128; };
  mlir::RankedTensorType q = attention.getFactorTypes()[0];
  if (!prim::isHalf(q.getElementType()) || !fits(e.features) || !fits(e.valueFeatures) ||
      q.getNumElements() == 0)
    return false;
  constexpr double kMost = (1 << 30) - (1 << 20), kTile = 128;
  double scores = double(e.shared) * (double(e.queries) + kTile) * (double(e.keys) + kTile);
  bool isForward = llvm::isa<prim::AttentionOp, prim::StridedAttentionOp>(attention);
  return isForward || 2 * scores <= kMost;
}

/// Whether the last dimension of each view is contiguous.
static bool hasContiguousRows(AttentionLike attention) {
  auto views = attention->getAttrOfType<mlir::ArrayAttr>("views");
  return !views || llvm::all_of(views.getAsValueRange<mlir::TypeAttr>(), [](mlir::Type type) {
    return prim::StridedView::of(llvm::cast<mlir::MemRefType>(type))->strides.back() == 1;
  });
}

// Views: cuDNN's kernels load 16 bytes at a time, and so do the fast ones of cuBLASLt, for which a
// copy would pay.
bool CudaTarget::runsInLibrary(mlir::Operation *op) const {
  if (auto attention = llvm::dyn_cast<AttentionLike>(op);
      attention && (!hasKernelOf(attention) || !hasContiguousRows(attention)))
    return false;
  return prim::isCall(op) && hasAlignedViews(op);
}

bool CudaTarget::hasAttention() const { return true; }

// cuBLASLt's, of floats; not where the product is one of vectors, to which other kernels belong.
bool CudaTarget::addsBias(prim::DotGeneralOp product) const {
  auto extent = [](const prim::ContractionSide &side, llvm::ArrayRef<int64_t> dimensions) {
    int64_t extent = 1;
    for (int64_t d : dimensions)
      extent *= side.shape()[d];
    return extent;
  };
  auto rhs = prim::ContractionSide::rhsOf(product);
  return extent(rhs, rhs.free()) > 1 && extent(rhs, rhs.contracting) > 1;
}

size_t CudaTarget::getMaxBatchDimensions() const { return 4; }

// The tensor cores' kernels of cuBLASLt load 16 bytes at a time: other rows went at 130 TFLOP/s
// instead of 300 in TF32, at 2.6 TB/s (H100, docs/gpu-results.md). A sector has eight elements of
// f32, and 16 bytes eight of 16 bits.
// Those that sum in full f32 are as fast with any rows.
std::optional<ContractionAlignment> CudaTarget::getContractionAlignment(mlir::Type element,
                                                                        bool tf32) const {
  if (!usesTensorCores(element, tf32))
    return std::nullopt;
  return ContractionAlignment{.elements = 8,
                              .flopsPerByte = sizeThreshold(88 * speedOverTf32(element))};
}

// The tensor cores' kernels of cuDNN want all tensors channels last, and launch a kernel of their
// own to copy what is not. Those that sum in full f32 are made for channels first.
std::optional<ConvolutionLayout> CudaTarget::getConvolutionLayout(mlir::Type element,
                                                                  bool tf32) const {
  if (!usesTensorCores(element, tf32))
    return std::nullopt;
  return ConvolutionLayout{
      .copiedBytes = 2, .launchedBytes = getLaunchBytes(), .filtersLast = true};
}

// On the tensor cores of compute capability 8.0, the oldest that code is generated for.
bool CudaTarget::hasTf32() const { return true; }

// A block of threads works on one matrix, whose steps wait for each other.
int64_t CudaTarget::getFactorizationBlock() const { return 32; }

int64_t CudaTarget::getMaxPackedRows(mlir::Type) const { return 0; }

std::optional<int64_t> CudaTarget::getPanelWidth(int64_t, int64_t, size_t) const {
  return std::nullopt;
}
