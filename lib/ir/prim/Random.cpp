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
  for (uint64_t i = 0, e = result.values.size(); i < e; ++i)
    result.values[i] = words({static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32),
                              static_cast<uint32_t>(step), static_cast<uint32_t>(getStream())},
                             static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32))[0];
  return success();
}

namespace {
/// 32-bit words of a 64-bit value, and the full product of two words.
struct Words {
  const ScalarBuilder &scalar;

  Value low(Value wide) const { return scalar.make<arith::TruncIOp>(narrow(wide.getType()), wide); }
  Value high(Value wide) const {
    Value shift = scalar.number(wide.getType(), 32);
    return low(scalar.make<arith::ShRUIOp>(wide, shift));
  }
  Value product(Value word, uint32_t multiplier) const {
    Type wide = withElement(word.getType(), scalar.builder.getI64Type());
    return scalar.make<arith::MulIOp>(scalar.make<arith::ExtUIOp>(wide, word),
                                      scalar.integer(wide, APInt(64, multiplier)));
  }
  Value constant(Type word, uint32_t value) const { return scalar.integer(word, APInt(32, value)); }
  Type narrow(Type wide) const { return withElement(wide, scalar.builder.getI32Type()); }
};
} // namespace

Value RandomBitsOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  OpBuilder &builder = emitter.builder();
  AffineExpr linear = builder.getAffineConstantExpr(0);
  for (auto [expression, extent] : llvm::zip_equal(index, getType().getShape()))
    linear = linear * extent + expression;

  // Fewer than 2^32 elements, nearly always, leave the upper word of the counter 0.
  bool isSmall = getType().getNumElements() <= int64_t(1) << 32;
  Value position =
      emitter.indexValue(linear, isSmall ? builder.getI32Type() : builder.getI64Type());
  Value seed = emitter.element(getKey(), builder.getAffineConstantExpr(0));
  Value step = emitter.element(getKey(), builder.getAffineConstantExpr(1));
  if (!position || !seed || !step) // only asked which elements are read
    return {};

  position = emitter.lanes(position);
  seed = emitter.lanes(seed);
  step = emitter.lanes(step);
  ScalarBuilder scalar{builder, getLoc()};
  Words split{scalar};
  Type word = split.narrow(position.getType());
  Value counter0 = isSmall ? position : split.low(position);
  Value counter1 = isSmall ? split.constant(word, 0) : split.high(position);
  Value counter2 = split.low(step);
  Value counter3 = split.constant(word, static_cast<uint32_t>(getStream()));
  Value key0 = split.low(seed), key1 = split.high(seed);
  for (int round = 0; round < kRounds; ++round) {
    Value product0 = split.product(counter0, kMultiplier0);
    Value product1 = split.product(counter2, kMultiplier1);
    auto mixed = [&](Value a, Value b, Value c) -> Value {
      return scalar.make<arith::XOrIOp>(scalar.make<arith::XOrIOp>(a, b), c);
    };
    counter0 = mixed(split.high(product1), counter1, key0);
    counter1 = split.low(product1);
    counter2 = mixed(split.high(product0), counter3, key1);
    counter3 = split.low(product0);
    key0 = scalar.make<arith::AddIOp>(key0, split.constant(word, kWeyl0));
    key1 = scalar.make<arith::AddIOp>(key1, split.constant(word, kWeyl1));
  }
  return counter0;
}
