// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Philox.h"
#include "ir/prim/Pointwise.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Random.cpp.inc"

using namespace accc::prim::philox;

// ---- random_bits ----

LogicalResult RandomBitsOp::verify() {
  // random_bits_c1
  if (getKey().getType().getShape() != ArrayRef<int64_t>(2))
    return emitOpError("key is ") << getKey().getType()
                                  << ", expected tensor<2xi64> of [seed, step]";
  return success();
}

LogicalResult RandomBitsOp::evaluate(ArrayRef<ReferenceArray> operands,
                                     SmallVectorImpl<ReferenceArray> &results) {
  uint64_t seed = integerBits(operands[0].values[0]), step = integerBits(operands[0].values[1]);
  ReferenceArray &result = results.emplace_back(getType().getShape());
  auto low = [](uint64_t wide) { return static_cast<uint32_t>(wide); };
  auto high = [](uint64_t wide) { return static_cast<uint32_t>(wide >> 32); };
  for (uint64_t i = 0, e = result.values.size(); i < e; ++i) {
    uint64_t block = i / kWords;
    result.values[i] =
        words({low(block), high(block), low(step), low(static_cast<uint64_t>(getStream()))},
              low(seed), high(seed))[i % kWords];
  }
  return success();
}

SmallVector<ChunkedDimension> RandomBitsOp::getChunkedDimensions() {
  SmallVector<ChunkedDimension> dimensions;
  for (int64_t d = 0; d < getType().getRank(); ++d)
    dimensions.push_back({{std::nullopt}, d}); // the key is read whole
  return dimensions;
}

// An element is what its place among all says.
Value RandomBitsOp::createChunk(OpBuilder &builder, const ChunkedDimension &dimension,
                                ValueRange operands, Chunk chunk) {
  auto all = builder.create<RandomBitsOp>(getLoc(), getType(), operands[0], getStream());
  return Tensor(builder, getLoc(), all).sliceDim(*dimension.result, chunk.begin, chunk.limit);
}

namespace {
/// Words of 32 bits. Vectors multiply in lanes of 64, and there words stay, the upper half being
/// anything; a scalar is one of 32 bits.
struct WordBuilder {
  const ScalarBuilder &scalar;
  Type word; // or a vector of these

  bool isWide() const { return isa<VectorType>(word); }
  Type as(unsigned bits) const { return withElement(word, scalar.builder.getIntegerType(bits)); }
  /// The lower word of an i64, or of a vector of these.
  Value low(Value wide) const {
    return isWide() ? wide : Value(scalar.make<arith::TruncIOp>(word, wide));
  }
  Value high(Value wide) const {
    return low(scalar.make<arith::ShRUIOp>(wide, scalar.number(wide.getType(), 32)));
  }
  /// All 64 bits of a product.
  Value product(Value factor, uint32_t multiplier) const {
    Type type = as(64);
    Value wide =
        isWide()
            ? Value(scalar.make<arith::AndIOp>(factor, scalar.integer(type, APInt(64, 0xffffffff))))
            : Value(scalar.make<arith::ExtUIOp>(type, factor));
    return scalar.make<arith::MulIOp>(wide, scalar.integer(type, APInt(64, multiplier)));
  }
  Value constant(uint32_t value) const {
    return scalar.integer(word, APInt(getElementTypeOrSelf(word).getIntOrFloatBitWidth(), value));
  }
  Value result(Value value) const {
    return isWide() ? Value(scalar.make<arith::TruncIOp>(as(32), value)) : value;
  }
};
} // namespace

IntegerType philox::getBlockType(MLIRContext *context, int64_t elements) {
  // Fewer than 2^32 blocks, nearly always, leave the upper word of the counter 0.
  return IntegerType::get(context, elements <= kWords << 32 ? 32 : 64);
}

std::array<Value, kWords> philox::emitWords(OpBuilder &builder, Location loc, Value block,
                                            Value seed, Value step, int64_t stream) {
  ScalarBuilder scalar{builder, loc};
  Type i64 = withElement(block.getType(), builder.getI64Type());
  WordBuilder words{scalar, isa<VectorType>(i64) ? i64 : builder.getI32Type()};
  bool isSmall = getElementTypeOrSelf(block).isInteger(32);
  if (isSmall && words.isWide())
    block = scalar.make<arith::ExtUIOp>(i64, block);
  Value counter0 = isSmall ? block : words.low(block);
  Value counter1 = isSmall ? words.constant(0) : words.high(block);
  Value counter2 = words.low(step);
  Value counter3 = words.constant(static_cast<uint32_t>(stream));
  Value key0 = words.low(seed), key1 = words.high(seed);
  for (int round = 0; round < kRounds; ++round) {
    Value product0 = words.product(counter0, kMultiplier0);
    Value product1 = words.product(counter2, kMultiplier1);
    auto mixed = [&](Value a, Value b, Value c) -> Value {
      return scalar.make<arith::XOrIOp>(scalar.make<arith::XOrIOp>(a, b), c);
    };
    counter0 = mixed(words.high(product1), counter1, key0);
    counter1 = words.low(product1);
    counter2 = mixed(words.high(product0), counter3, key1);
    counter3 = words.low(product0);
    key0 = scalar.make<arith::AddIOp>(key0, words.constant(kWeyl0));
    key1 = scalar.make<arith::AddIOp>(key1, words.constant(kWeyl1));
  }
  return {words.result(counter0), words.result(counter1), words.result(counter2),
          words.result(counter3)};
}

Value philox::emitChoice(OpBuilder &builder, Location loc, const std::array<Value, kWords> &words,
                         Value which) {
  ScalarBuilder scalar{builder, loc};
  auto isSet = [&](int bit) {
    Value masked = scalar.make<arith::AndIOp>(which, scalar.number(which.getType(), bit));
    return scalar.compare(arith::CmpIPredicate::ne, masked, scalar.number(which.getType(), 0));
  };
  Value isOdd = isSet(1);
  return scalar.select(isSet(2), scalar.select(isOdd, words[3], words[2]),
                       scalar.select(isOdd, words[1], words[0]));
}

Value RandomBitsOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  OpBuilder &builder = emitter.builder();
  AffineExpr linear = builder.getAffineConstantExpr(0);
  for (auto [expression, extent] : llvm::zip_equal(index, getType().getShape()))
    linear = linear * extent + expression;

  Type blockType = getBlockType(getContext(), getType().getNumElements());
  Value values[] = {emitter.indexValue(linear.floorDiv(kWords), blockType),
                    emitter.indexValue(linear % kWords, builder.getI32Type()),
                    emitter.element(getKey(), builder.getAffineConstantExpr(0)),
                    emitter.element(getKey(), builder.getAffineConstantExpr(1))};
  return emitter.apply(values, [&](OpBuilder &b, ValueRange v) {
    return emitChoice(b, getLoc(), emitWords(b, getLoc(), v[0], v[2], v[3], getStream()), v[1]);
  });
}
