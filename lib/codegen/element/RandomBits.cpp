// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random bits come in blocks of neighbours, which lanes share.
#include "codegen/element/BodyEmitter.h"
#include "ir/prim/Philox.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;
using prim::philox::kWords;

static Value splat(OpBuilder &b, Location loc, Value value, int64_t width) {
  return b.create<vector::SplatOp>(loc, VectorType::get({width}, value.getType()), value);
}

/// The values of `count` blocks, which have a lane each, in the order of the elements.
static Value interleave(OpBuilder &b, Location loc, ArrayRef<Value> values, int64_t count) {
  auto n = static_cast<int64_t>(values.size());
  if (n == 1)
    return count == 1 ? splat(b, loc, values.front(), 1) : values.front();
  SmallVector<Value> even, odd;
  for (auto [i, value] : llvm::enumerate(values))
    (i % 2 ? odd : even).push_back(value);
  SmallVector<int64_t> order;
  int64_t half = count * n / 2;
  for (int64_t i = 0; i < half; ++i)
    order.append({i, half + i});
  return b.create<vector::ShuffleOp>(loc, interleave(b, loc, even, count),
                                     interleave(b, loc, odd, count), order);
}

Value BodyEmitter::randomBits(prim::RandomBitsOp op, ArrayRef<AffineExpr> position) {
  AffineExpr linear = linearise(op.getType().getShape(), position);
  LaneIndex at = index.evaluate(linear);
  int64_t width = index.width();
  AffineExpr zero = b.getAffineConstantExpr(0), one = b.getAffineConstantExpr(1);
  Value seed = element(op.getKey(), zero), step = element(op.getKey(), one);
  auto isVector = [](Value value) { return isa<VectorType>(value.getType()); };
  if (width == 1 || at.lanes || at.stride != 1 || isVector(seed) || isVector(step))
    return op.emitElement(*this, position); // each lane has a block of its own

  bool isAligned = index.startsAtMultipleOf(linear, kWords);
  auto count = static_cast<int64_t>(llvm::divideCeil(width + (isAligned ? 0 : kWords - 1), kWords));
  IntegerType blockType = prim::philox::getBlockType(b.getContext(), op.getType().getNumElements());
  Value block = b.create<arith::ShRSIOp>(location, at.base, index.constant(llvm::Log2_64(kWords)));
  if (block.getType() != blockType)
    block = b.create<arith::TruncIOp>(location, blockType, block);
  if (count > 1) {
    SmallVector<Attribute> steps;
    for (int64_t i = 0; i < count; ++i)
      steps.push_back(b.getIntegerAttr(blockType, i));
    auto type = VectorType::get({count}, blockType);
    block = b.create<arith::AddIOp>(
        location, splat(b, location, block, count),
        b.create<arith::ConstantOp>(location, DenseElementsAttr::get(type, steps)));
    seed = splat(b, location, seed, count);
    step = splat(b, location, step, count);
  }
  Value bits = interleave(
      b, location, prim::philox::emitWords(b, location, block, seed, step, op.getStream()), count);
  auto startingAt = [&](int64_t first) -> Value {
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < width; ++i)
      order.push_back(first + i);
    return b.create<vector::ShuffleOp>(location, bits, bits, order);
  };
  if (isAligned)
    return startingAt(0);
  Value which = b.create<arith::TruncIOp>(location, b.getI32Type(), at.base);
  return prim::philox::emitChoice(
      b, location, {startingAt(0), startingAt(1), startingAt(2), startingAt(3)}, which);
}
