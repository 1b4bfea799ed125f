// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/MadeOfLess.h"

#include "support/TensorBytes.h"

using namespace mlir;
using namespace accc;

static bool isCheap(Operation *op) {
  return isa<View>(op) ? !op->hasTrait<ReportsErrors>()
                       : isa<Pointwise>(op) && !op->hasTrait<Expensive>();
}

std::optional<ChunkedDimension> MadeOfLess::findOnce(Value value, int64_t dimension, int depth) {
  constexpr int kMostOps = 16, kMuch = 8;
  Operation *op = value.getDefiningOp();
  auto chunkable = dyn_cast_or_null<Chunkable>(op);
  if (!chunkable || !isCheap(op) || depth == kMostOps)
    return std::nullopt;
  SmallVector<ChunkedDimension> dimensions = chunkable.getChunkedDimensions();
  auto *chunked = llvm::find_if(
      dimensions, [&](const ChunkedDimension &cut) { return cut.result == dimension; });
  if (chunked == dimensions.end())
    return std::nullopt;
  for (auto [operand, from] : llvm::zip(op->getOperands(), chunked->operands)) {
    bool isSmall = tensorBytes(operand) * kMuch <= tensorBytes(value);
    if (!isSmall && (!from || !find(operand, *from, depth + 1)))
      return std::nullopt;
  }
  return *chunked;
}

std::optional<ChunkedDimension> MadeOfLess::find(Value value, int64_t dimension, int depth) {
  std::pair<Value, int64_t> key{value, dimension};
  if (auto it = found.find(key); it != found.end())
    return it->second;
  std::optional<ChunkedDimension> cut = findOnce(value, dimension, depth);
  return found[key] = cut;
}
