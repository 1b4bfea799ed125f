// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What passes ask about the machine that a library is compiled for. No pass holds a fact about a
// machine: what differs between targets is an answer of this class.
#ifndef ACCC_TARGET_TARGET_H
#define ACCC_TARGET_TARGET_H

#include "ir/prim/Prim.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace accc {

/// How far a kernel may grow by fusion.
struct KernelLimits {
  size_t ops;           // of its body
  size_t buffers;       // inputs and outputs
  int64_t expensiveOps; // Expensive ones of a body of several ops
  /// For each byte that is neither written nor read because a kernel computes what its windows
  /// read: how often it may compute ops again, and how many elements its windows of windows may
  /// read; both for one element of its space.
  double evaluationsPerByte, windowReadsPerByte;
};

/// Which dimensions a reduction is over. What leaves the innermost one makes columns of the others.
enum class ReducedDimensions {
  Leading, // the outermost ones, without a gap
  Outer,   // others than the innermost one
  Inner    // the innermost one, and maybe others
};

/// How a reduction is done in parts first.
struct ReductionParts {
  int64_t least;          // fewer parts are not worth the second step
  int64_t leastRows;      // a part of fewer rows is not, either
  int64_t enough;         // more parts than these are not better
  int64_t enoughElements; // unless a part has more elements than this
  int64_t few = 0;        // where whole dimensions make fewer parts, the next one is cut
  int64_t cutInto = 0;    // as many parts in all, or as divide it
};

/// How a library likes the tensors of a convolution in memory: channels last. What it is given
/// otherwise it copies, at the cost of `copiedBytes` a byte and `launchedBytes` a tensor.
struct ConvolutionLayout {
  int64_t copiedBytes;
  int64_t launchedBytes;
  bool filtersLast; // filters as well: [O, kernel..., I]; else they stay [O, I, kernel...]
};

/// How a library likes the rows of the matrices of a product in memory: to begin at a multiple of
/// `elements` elements. Where they do not, `flopsPerByte` operations take longer by the time that
/// moving a byte takes.
struct ContractionAlignment {
  int64_t elements;
  int64_t flopsPerByte;
};

/// Floating-point operations that take as long as moving a byte.
struct FlopsPerByte {
  double products, convolutions;
};

/// Runs of neighbours, by their number, for which a value of several ops is not to be computed in
/// the kernel that repeats it: fewer than `least` take no longer than the value does; beside more
/// than `most` it takes no time.
struct RepeatedRuns {
  int64_t least, most;
};

/// The answers of one target. Costs are in bytes: those that memory moves in the same time.
class Target {
public:
  virtual ~Target();

  /// What --target calls it.
  virtual llvm::StringRef getName() const = 0;

  // ---- Costs ----
  /// The cost of starting a kernel.
  virtual int64_t getLaunchBytes() const = 0;
  /// The cost of evaluating an elementary function once.
  virtual int64_t getExpensiveOpBytes() const = 0;
  /// The speed of contractions of factors of this type that compute much for each byte. `tf32`:
  /// they may round f32 factors to TF32.
  virtual FlopsPerByte getFlopsPerByte(mlir::Type element, bool tf32) const = 0;
  /// Tensors of fewer elements stay in a cache between two kernels: reading them costs nothing.
  virtual int64_t getCachedElements() const = 0;

  // ---- Kernels ----
  virtual KernelLimits getKernelLimits() const = 0;
  virtual RepeatedRuns getRepeatedRuns() const = 0;
  /// In how many parts a reduction of `elements` elements to `columns` results is done; none: at
  /// once.
  virtual std::optional<ReductionParts> getReductionParts(int64_t elements, int64_t columns,
                                                          ReducedDimensions reduced) const = 0;
  /// How many rows make a strip, where sums over all `rows` rows, one for each of the `elements`
  /// elements of a row, are those of strips first, in a kernel that reduces the rows as well (see
  /// prim::KernelReductions); a divisor of `rows`, or 0: a kernel reduces one way only.
  virtual int64_t getStripRows(int64_t rows, int64_t elements) const = 0;
  /// How many elements a run has, where running sums along lines of `extent` elements are those of
  /// runs, which start with the sums of the runs before them; none: a kernel walks the whole line.
  /// `isRow`: the elements of a line are neighbours in memory.
  virtual std::optional<int64_t> getScanRun(int64_t lines, int64_t extent, bool isRow) const = 0;
  /// Reductions that each read fewer bytes share a kernel, whatever they read, where they have one
  /// shape and none needs another; 0: none do.
  virtual int64_t getSmallReductionBytes() const = 0;
  /// Reductions of more elements to each result read these again from memory for every pass that
  /// needs the results of others.
  virtual int64_t getMaxRowElements() const = 0;
  /// The most elements of a line, of so many bytes each, that a kernel sorts at once; none: any.
  virtual std::optional<int64_t> getMaxSortedElements(int64_t elementBytes) const = 0;
  /// Whether a scatter of so many updates to so many rows, of which each gets `most` or fewer,
  /// takes less time as `most` gathers of rows; if not with one, then with no more. The indices are
  /// known.
  virtual bool gathersUpdates(int64_t rows, int64_t updates, int64_t most) const = 0;
  /// At most so many updates of a line are added by comparing the place of each element of the line
  /// with theirs.
  virtual int64_t getMaxComparedUpdates() const = 0;
  /// Whether a scatter by so many indices takes less time where these are sorted first; `known`:
  /// they are, at compile time. `rows` are those that the indices choose from, all that lie before
  /// their axis counted: each looks for its updates.
  /// So many, `together`, are sorted with each other: lines each by itself.
  virtual bool sortsUpdates(int64_t rows, int64_t updates, int64_t together, bool known) const = 0;
  /// Into chunks of how many bytes tensors between matrix products are cut where there is no memory
  /// for the whole.
  virtual int64_t getChunkBytes() const = 0;
  /// How many bytes processes exchange at once, so that a message's delay does not show, before the
  /// rest is computed.
  virtual int64_t getBucketBytes() const = 0;
  /// Whether a kernel has the numbers of a constant that counts (0, 1, 2, ...) sooner computed than
  /// read.
  virtual bool computesCounts() const = 0;

  // ---- Libraries ----
  /// Whether a library runs the op, which then becomes no part of a kernel. Of calls, all but some
  /// attentions and products of views are: the former are contractions before any kernel is formed
  /// (ExpandAttention), the latter are not made (ViewContractionOperands).
  virtual bool runsInLibrary(mlir::Operation *op) const = 0;
  /// Whether a library runs attentions of some types whole: what runsInLibrary() says of each.
  virtual bool hasAttention() const = 0;
  /// Whether the library call of a product adds a bias to every row of the result for free: an
  /// epilogue.
  virtual bool addsBias(prim::DotGeneralOp product) const = 0;
  /// The most batch dimensions of a matrix product that is one library call.
  virtual size_t getMaxBatchDimensions() const = 0;
  /// How matrix products of factors of this type like their rows; none where they take them as they
  /// are. `tf32`: they may round f32 factors to TF32.
  virtual std::optional<ContractionAlignment> getContractionAlignment(mlir::Type element,
                                                                      bool tf32) const = 0;
  /// How convolutions of this element type like their tensors; none where they take them as they
  /// are. `tf32`: they may round f32 factors to TF32.
  virtual std::optional<ConvolutionLayout> getConvolutionLayout(mlir::Type element,
                                                                bool tf32) const = 0;
  /// Whether contractions of f32 can round their factors to TF32 (--precision tf32).
  virtual bool hasTf32() const = 0;
  /// Rows and columns of the blocks by which large matrices are factored: kernels do one, products
  /// the rest.
  virtual int64_t getFactorizationBlock() const = 0;
  /// Matrix products of at most so many rows and factors of this type read a packed right operand
  /// faster; 0: none does.
  virtual int64_t getMaxPackedRows(mlir::Type element) const = 0;
  /// The width of the column panels [columns / width, depth, width] into which a right operand
  /// [depth, columns] that `uses` such products share is packed; none where that does not pay.
  virtual std::optional<int64_t> getPanelWidth(int64_t depth, int64_t columns,
                                               size_t uses) const = 0;
};

/// What --arch means for a target: `archs`, or where they are empty the target's default.
std::vector<std::string> resolveArchs(llvm::StringRef target, llvm::ArrayRef<std::string> archs);

/// The target that --target names, for the machines that --arch names (none: the target's
/// default). An error names the option that is at fault and what there is.
llvm::Expected<std::unique_ptr<Target>> createTarget(llvm::StringRef name,
                                                     llvm::ArrayRef<std::string> archs);

} // namespace accc

#endif
