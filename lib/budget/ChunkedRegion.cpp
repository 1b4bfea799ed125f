// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/ChunkedRegion.h"

#include "budget/MadeOfLess.h"
#include "budget/SameBits.h"
#include "fusion/Chunk.h"
#include "ir/prim/Cost.h"
#include "ir/prim/RoundingErrors.h"
#include "support/TensorBytes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <set>

using namespace mlir;
using namespace accc;

namespace {
/// More chunks make the program long, not the tensors much smaller.
constexpr int64_t kMostChunks = 64;

/// Whether small results of the op may lie between two members: the maxima and sums of a softmax.
bool mayLieBetween(Operation *op) { return !prim::isCall(op); }

/// Grows a region around a tensor of which one dimension is cut.
class Growing {
public:
  Growing(Value seed, int64_t dimension, int64_t leastBytes, const SameBits &sameBits)
      : leastBytes(leastBytes), block(*seed.getParentBlock()), sameBits(sameBits),
        chunk(getChunk(seed.getDefiningOp())) {
    region.extent = cast<RankedTensorType>(seed.getType()).getDimSize(dimension);
    follow(seed, dimension);
  }

  /// None where the seed is not computed in chunks itself.
  std::optional<ChunkedRegion> grow(Operation *seed);

private:
  bool isLarge(Value value) const { return tensorBytes(value) >= leastBytes; }
  bool isAtLarge(Operation *op) const {
    return isLarge(op->getResult(0)) ||
           llvm::any_of(op->getOperands(), [&](Value operand) { return isLarge(operand); });
  }
  /// Whether a later pass reads what an earlier one gave, of which there is the whole in memory.
  bool isKept(Value value) const {
    return !isLarge(value) || !region.givesChunks(value.getDefiningOp()) || isReadOutside(value);
  }
  bool isReadOutside(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) { return !region.contains(user); });
  }
  void follow(Value value, int64_t dimension) { pending.push_back({value, dimension}); }
  /// Whether a later pass that computes the op again may give it other last bits, and these count.
  bool mustBeKept(Operation *op) const {
    return isLarge(op->getResult(0)) && prim::ordersTerms(op) &&
           sameBits.areWanted(op->getResult(0));
  }
  /// Adds the op if one of its dimensions, of those that can be cut, is the one meant.
  void add(Operation *op, llvm::function_ref<bool(const ChunkedDimension &)> isMeant);
  bool agrees(Operation *op, const ChunkedDimension &chunked) const;
  void dropLooseEnds();
  void divide();
  /// From the first member to the last.
  llvm::iterator_range<Block::iterator> between() const;

  int64_t leastBytes;
  Block &block;
  const SameBits &sameBits;
  Attribute chunk; // of the seed
  MadeOfLess madeOfLess;
  ChunkedRegion region;
  SmallVector<std::pair<Value, int64_t>> pending; // the dimension of a value that is cut
};
} // namespace

/// Whether what a member reads of other members is what these give.
bool Growing::agrees(Operation *op, const ChunkedDimension &chunked) const {
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (auto it = region.members.find(operand.getDefiningOp());
        operand.getDefiningOp() && it != region.members.end() && it->second.result &&
        it->second.result != chunked.operands[i])
      return false;
  if (!chunked.result)
    return true;
  for (OpOperand &use : op->getResult(0).getUses())
    if (auto it = region.members.find(use.getOwner());
        it != region.members.end() && it->second.operands[use.getOperandNumber()] != chunked.result)
      return false;
  return true;
}

void Growing::add(Operation *op, llvm::function_ref<bool(const ChunkedDimension &)> isMeant) {
  auto chunkable = dyn_cast<Chunkable>(op);
  if (!chunkable || region.contains(op) || op->getBlock() != &block || getChunk(op) != chunk ||
      (!isAtLarge(op) && !mayLieBetween(op)) || mustBeKept(op))
    return;
  SmallVector<ChunkedDimension> dimensions = chunkable.getChunkedDimensions();
  auto *chunked = llvm::find_if(dimensions, isMeant);
  if (chunked == dimensions.end() || !agrees(op, *chunked))
    return;
  region.members[op] = *chunked;
  for (auto [operand, dimension] : llvm::zip(op->getOperands(), chunked->operands))
    // Of what is made of less each region computes its own, as if it were no member: a mask or a
    // factor that all layers read does not make one region of these.
    if (dimension && isLarge(operand) &&
        (region.contains(operand.getDefiningOp()) || !madeOfLess.find(operand, *dimension)))
      follow(operand, *dimension);
  if (chunked->result)
    follow(op->getResult(0), *chunked->result);
}

llvm::iterator_range<Block::iterator> Growing::between() const {
  Operation *first = nullptr, *last = nullptr;
  for (const auto &[op, chunked] : region.members) {
    if (!first || op->isBeforeInBlock(first))
      first = op;
    if (!last || last->isBeforeInBlock(op))
      last = op;
  }
  return {first->getIterator(), std::next(last->getIterator())};
}

/// Without small ops from which no way leads to another member: they can run on the whole.
void Growing::dropLooseEnds() {
  for (Operation &op : llvm::reverse(between()))
    if (region.contains(&op) && !isAtLarge(&op) &&
        llvm::none_of(op.getUsers(), [&](Operation *user) { return region.contains(user); }))
      region.members.erase(&op);
}

/// Finds the passes and what each computes.
void Growing::divide() {
  struct Placed {
    int64_t number; // in program order
    size_t pass;    // the first in which it can run, or, of other ops, that may read them
  };
  DenseMap<Operation *, Placed> placed; // of members, and of what depends on them
  std::vector<Operation *> ops;         // by number
  std::vector<SmallVector<Operation *>> members;
  for (Operation &op : between()) {
    bool isMember = region.contains(&op);
    size_t pass = 0;
    bool depends = isMember;
    for (Value operand : op.getOperands()) {
      Operation *producer = operand.getDefiningOp();
      auto it = producer ? placed.find(producer) : placed.end();
      if (it == placed.end())
        continue;
      bool inChunks = isMember && region.givesChunks(producer);
      pass = std::max(pass, it->second.pass + (region.contains(producer) && !inChunks));
      depends = true;
    }
    if (!depends)
      continue;
    placed[&op] = {static_cast<int64_t>(ops.size()), pass};
    ops.push_back(&op);
    if (isMember) {
      members.resize(std::max(members.size(), pass + 1));
      members[pass].push_back(&op);
    }
  }
  // From the last pass on: it says what an earlier one must keep.
  DenseSet<Value> kept;
  region.passes.resize(members.size());
  for (size_t pass = members.size(); pass-- > 0;) {
    ChunkedPass &current = region.passes[pass];
    std::set<int64_t> needed; // members, by number
    auto need = [&](Operation *op) { needed.insert(placed.lookup(op).number); };
    for (Operation *op : members[pass])
      if (Value result = op->getResult(0); kept.contains(result) || isReadOutside(result)) {
        current.outputs.push_back(result);
        need(op);
      }
    // What an op reads has a smaller number.
    for (auto it = needed.rbegin(); it != needed.rend(); ++it) {
      Operation *op = ops[*it];
      current.ops.push_back(op);
      for (Value operand : op->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (!region.contains(producer))
          continue;
        if (placed.lookup(producer).pass < pass && isKept(operand))
          kept.insert(operand);
        else
          need(producer);
      }
    }
    std::reverse(current.ops.begin(), current.ops.end());
  }
  llvm::erase_if(region.passes, [](const ChunkedPass &pass) { return pass.outputs.empty(); });
}

std::optional<ChunkedRegion> Growing::grow(Operation *seed) {
  while (!pending.empty()) {
    auto [value, dimension] = pending.pop_back_val();
    if (Operation *producer = value.getDefiningOp())
      add(producer, [&](const ChunkedDimension &chunked) { return chunked.result == dimension; });
    for (OpOperand &use : value.getUses())
      add(use.getOwner(), [&](const ChunkedDimension &chunked) {
        return chunked.operands[use.getOperandNumber()] == dimension;
      });
  }
  if (!region.contains(seed))
    return std::nullopt;
  dropLooseEnds();
  divide();
  return std::move(region);
}

/// The large tensors that a pass has in memory, between products, in chunks only.
static llvm::SetVector<Value> tensorsOf(const ChunkedPass &pass, const ChunkedRegion &region,
                                        int64_t leastBytes) {
  llvm::SetVector<Value> tensors;
  auto add = [&](Value value) {
    if (region.givesChunks(value.getDefiningOp()) && tensorBytes(value) >= leastBytes)
      tensors.insert(value);
  };
  for (Operation *op : pass.ops)
    if (isa<MatrixProduct>(op)) {
      llvm::for_each(op->getOperands(), add);
      add(op->getResult(0));
    }
  for (Value output : pass.outputs)
    tensors.remove(output);
  return tensors;
}

/// What computing in chunks saves, in bytes (Target.h): to write and to read these tensors.
static double savedBy(const ChunkedRegion &region, int64_t leastBytes) {
  double saved = 0;
  for (const ChunkedPass &pass : region.passes)
    for (Value value : tensorsOf(pass, region, leastBytes))
      saved += 2 * bytesOf(value.getType());
  return saved;
}

/// What it costs: products of an earlier pass again, parts of sums, large results put together.
static double costOf(const ChunkedRegion &region, int64_t leastBytes, const Costs &costs) {
  double cost = 0;
  DenseSet<Operation *> computed;
  for (const ChunkedPass &pass : region.passes) {
    int64_t launches = 0;
    for (Operation *op : pass.ops) {
      if (!isa<MatrixProduct>(op))
        continue;
      launches += 2; // it, and a kernel that fuses what lies before the next
      if (!computed.insert(op).second)
        cost += costs.ofArithmetic(op);
    }
    for (Value output : pass.outputs) {
      double bytes = bytesOf(output.getType());
      if (!region.givesChunks(output.getDefiningOp()))
        cost += 3 * bytes * static_cast<double>(region.chunks() - 1);
      else if (tensorBytes(output) >= leastBytes)
        cost += 2 * bytes;
    }
    cost += costs.ofLaunch() * static_cast<double>(launches * region.chunks());
  }
  return cost;
}

/// The extent of a chunk, where `wanted` chunks would do: of equal ones if these are not many more.
static int64_t sizeOfChunks(int64_t extent, int64_t wanted) {
  for (int64_t chunks = wanted; chunks <= std::min(2 * wanted, extent); ++chunks)
    if (extent % chunks == 0)
      return extent / chunks;
  return llvm::divideCeil(extent, static_cast<uint64_t>(wanted));
}

/// Sizes the chunks, as near to `sizes.chunkBytes` as it pays: where sums over the chunks are
/// large, fewer. False where it does not.
static bool chooseSize(ChunkedRegion &region, int64_t bytes, const ChunkSizes &sizes,
                       const Costs &costs) {
  auto wanted =
      static_cast<int64_t>(llvm::divideCeil(bytes, static_cast<uint64_t>(sizes.chunkBytes)));
  double saved = savedBy(region, sizes.leastBytes);
  if (saved == 0)
    return false;
  for (int64_t chunks = std::min({wanted, kMostChunks, region.extent}); chunks > 1; chunks /= 2) {
    region.size = sizeOfChunks(region.extent, chunks);
    region.cost = costOf(region, sizes.leastBytes, costs);
    if (sizes.always || region.cost <= saved)
      return true;
  }
  return false;
}

std::optional<ChunkedRegion> accc::findRegion(Value seed, const ChunkSizes &given,
                                              const Costs &costs) {
  auto type = cast<RankedTensorType>(seed.getType());
  int64_t bytes = tensorBytes(type), leastTaken = bytes;
  constexpr int64_t kMuchSmaller = 8; // what else a model computes is no part of the region
  ChunkSizes sizes = given;
  sizes.leastBytes = std::max(sizes.leastBytes, bytes / kMuchSmaller);
  SameBits sameBits(*seed.getParentBlock());
  std::optional<ChunkedRegion> best;
  auto lossOf = [&](const ChunkedRegion &region) {
    return region.cost - savedBy(region, sizes.leastBytes);
  };
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (type.getDimSize(d) < 2)
      continue;
    std::optional<ChunkedRegion> region =
        Growing(seed, d, sizes.leastBytes, sameBits).grow(seed.getDefiningOp());
    if (!region || !chooseSize(*region, bytes, sizes, costs))
      continue;
    int64_t taken = std::max(bytes / region->extent * region->size, sizes.chunkBytes);
    if (taken > leastTaken || (taken == leastTaken && best && lossOf(*region) >= lossOf(*best)))
      continue;
    leastTaken = taken;
    best = std::move(region);
  }
  if (best) {
    llvm::SetVector<Value> tensors;
    for (const ChunkedPass &pass : best->passes)
      for (Value value : tensorsOf(pass, *best, sizes.leastBytes))
        tensors.insert(value);
    best->tensors = static_cast<int64_t>(tensors.size());
    for (Value value : tensors)
      best->largestBytes = std::max(best->largestBytes, tensorBytes(value));
  }
  return best;
}
