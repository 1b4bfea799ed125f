// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/ChunkWriter.h"

#include "budget/MadeOfLess.h"
#include "fusion/Chunk.h"
#include "ir/prim/Tensor.h"
#include "support/DeadCode.h"
#include "support/SortBlock.h"
#include "support/TensorBytes.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {

/// Writes the ops of a region for each chunk, at the end of the block.
class ChunkWriter {
public:
  ChunkWriter(const ChunkedRegion &region, Block &block, int64_t firstChunk)
      : region(region), block(block), builder(block.getTerminator()), nextChunk(firstChunk) {}

  /// Puts the chunks in the place of the region. Gives the number of the first chunk after them.
  int64_t write();

private:
  void writePass(const ChunkedPass &pass);
  /// What the pass gives of the chunk, for each of its outputs.
  SmallVector<Value> writeChunk(const ChunkedPass &pass, Chunk chunk);
  Value cut(Value value, int64_t dimension, Chunk chunk);
  /// The number of a chunk.
  size_t numberOf(Chunk chunk) const { return chunk.begin / region.size; }
  Value read(Value value, std::optional<int64_t> dimension, Chunk chunk);
  Value derive(Value value, int64_t dimension, Chunk chunk);
  void rankOps();
  int64_t rankOfPass(const ChunkedPass &pass) const;
  Operation *lastOp() const { return block.getTerminator()->getPrevNode(); }

  const ChunkedRegion &region;
  Block &block;
  OpBuilder builder;
  int64_t nextChunk;
  Operation *lastBeforePass = nullptr;
  int64_t nextRank = 0;
  DenseMap<Operation *, int64_t> rank;                // of sortBlock
  DenseMap<Value, SmallVector<Value>> pieces;         // of outputs of passes written, by chunk
  DenseMap<Value, Value> sums;                        // over chunks, of outputs of passes written
  DenseMap<std::pair<Value, int64_t>, Value> stacks;  // values that are cut, chunk behind chunk
  DenseMap<Value, Value> computed;                    // of this chunk
  DenseMap<std::pair<Value, int64_t>, Value> slices;  // of this chunk
  DenseMap<std::pair<Value, int64_t>, Value> derived; // of this chunk
  MadeOfLess madeOfLess;
};
} // namespace

void ChunkWriter::rankOps() {
  constexpr int kPlaces = 32; // behind each op for those that are made
  rank.clear();
  for (auto [i, op] : llvm::enumerate(block.without_terminator()))
    rank[&op] = static_cast<int64_t>(i) << kPlaces;
}

/// Behind all that it reads, earlier passes included.
int64_t ChunkWriter::rankOfPass(const ChunkedPass &pass) const {
  int64_t last = 0;
  auto isBehind = [&](Value value) {
    Operation *producer = value ? value.getDefiningOp() : nullptr;
    if (producer && !region.contains(producer))
      last = std::max(last, rank.lookup(producer));
  };
  for (Operation *op : pass.ops)
    for (Value operand : op->getOperands()) {
      isBehind(operand);
      isBehind(sums.lookup(operand));
      if (auto it = pieces.find(operand); it != pieces.end())
        llvm::for_each(it->second, isBehind);
    }
  return last + 1;
}

/// Where the value is made of much less, a chunk of it by the same ops; else null.
Value ChunkWriter::derive(Value value, int64_t dimension, Chunk chunk) {
  std::optional<ChunkedDimension> cut = madeOfLess.find(value, dimension);
  if (!cut)
    return nullptr;
  if (Value made = derived.lookup({value, dimension}))
    return made;
  Operation *op = value.getDefiningOp();
  SmallVector<Value> operands;
  for (auto [operand, from] : llvm::zip(op->getOperands(), cut->operands)) {
    Value part = from ? derive(operand, *from, chunk) : nullptr;
    operands.push_back(part ? part : read(operand, from, chunk));
  }
  Value made = cast<Chunkable>(op).createChunk(builder, *cut, operands, chunk);
  derived[{value, dimension}] = made;
  return made;
}

/// The chunk of a value that is there. Where the dimension is not the outermost, all chunks are put
/// one behind the other first, so that each is a place in memory.
Value ChunkWriter::cut(Value value, int64_t dimension, Chunk chunk) {
  Tensor all(builder, value.getLoc(), value);
  ArrayRef<int64_t> shape = all.shape();
  if (ReferenceArray::count(shape.take_front(dimension)) == 1 || region.extent % region.size != 0)
    return all.sliceDim(dimension, chunk.begin, chunk.limit);
  Value &stack = stacks[{value, dimension}];
  if (!stack) {
    SmallVector<int64_t> split(shape), permutation{dimension};
    split[dimension] = region.size;
    split.insert(split.begin() + dimension, region.chunks());
    for (int64_t d = 0; d < static_cast<int64_t>(split.size()); ++d)
      if (d != dimension)
        permutation.push_back(d);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(lastBeforePass);
    Tensor chunked = all.reshape(split);
    stack = chunked.transpose(permutation);
    for (Value made : {chunked.get(), stack})
      rank[made.getDefiningOp()] = nextRank++;
  }
  SmallVector<int64_t> part(shape);
  part[dimension] = region.size;
  auto number = static_cast<int64_t>(numberOf(chunk));
  return all.wrap(stack).sliceDim(0, number, number + 1).reshape(part);
}

Value ChunkWriter::read(Value value, std::optional<int64_t> dimension, Chunk chunk) {
  if (Value here = computed.lookup(value))
    return here;
  if (auto it = pieces.find(value); it != pieces.end() && dimension)
    return it->second[numberOf(chunk)];
  if (Value sum = sums.lookup(value))
    value = sum;
  if (!dimension)
    return value;
  Value &slice = slices[{value, *dimension}];
  if (slice)
    return slice;
  Value made = derive(value, *dimension, chunk);
  if (!made)
    made = cut(value, *dimension, chunk);
  return slices[{value, *dimension}] = made;
}

SmallVector<Value> ChunkWriter::writeChunk(const ChunkedPass &pass, Chunk chunk) {
  computed.clear();
  slices.clear();
  derived.clear();
  for (Operation *op : pass.ops) {
    const ChunkedDimension &chunked = region.members.find(op)->second;
    SmallVector<Value> operands;
    for (auto [operand, dimension] : llvm::zip(op->getOperands(), chunked.operands))
      operands.push_back(read(operand, dimension, chunk));
    computed[op->getResult(0)] = cast<Chunkable>(op).createChunk(builder, chunked, operands, chunk);
  }
  SmallVector<Value> given;
  for (Value output : pass.outputs)
    given.push_back(computed.lookup(output));
  return given;
}

void ChunkWriter::writePass(const ChunkedPass &pass) {
  rankOps();
  nextRank = rankOfPass(pass);
  lastBeforePass = lastOp();
  auto finishOps = [&](Operation *last, std::optional<int64_t> chunk) {
    for (Operation *op = last->getNextNode(); op != block.getTerminator(); op = op->getNextNode()) {
      if (!rank.try_emplace(op, nextRank).second)
        continue; // of all chunks
      ++nextRank;
      if (chunk)
        setChunk(op, *chunk);
    }
  };
  std::vector<SmallVector<Tensor>> chunks(pass.outputs.size()); // or the sum of those so far
  for (int64_t begin = 0; begin < region.extent; begin += region.size) {
    Operation *last = lastOp();
    Chunk chunk{begin, std::min(begin + region.size, region.extent)};
    SmallVector<Value> values = writeChunk(pass, chunk);
    for (auto [output, all, value] : llvm::zip(pass.outputs, chunks, values)) {
      Tensor given(builder, output.getLoc(), value);
      if (region.givesChunks(output.getDefiningOp()) || all.empty())
        all.push_back(given);
      else
        all.front() = all.front() + given;
    }
    finishOps(last, nextChunk++);
  }
  Operation *last = lastOp();
  for (auto [known, all] : llvm::zip(pass.outputs, chunks)) {
    Value output = known, value = all.front();
    if (std::optional<int64_t> dimension = region.members.lookup(output.getDefiningOp()).result) {
      pieces[output].assign(all.begin(), all.end());
      value = prim::concatenate(all, *dimension);
    } else {
      sums[output] = value;
    }
    output.replaceUsesWithIf(value,
                             [&](OpOperand &use) { return !region.contains(use.getOwner()); });
  }
  finishOps(last, std::nullopt);
  sortBlock(block, rank);
}

int64_t ChunkWriter::write() {
  for (const ChunkedPass &pass : region.passes)
    writePass(pass);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (region.contains(&op))
      op.erase();
  eraseDeadCode(block);
  return nextChunk;
}

int64_t accc::writeInChunks(const ChunkedRegion &region, Block &block, int64_t firstChunk) {
  return ChunkWriter(region, block, firstChunk).write();
}
