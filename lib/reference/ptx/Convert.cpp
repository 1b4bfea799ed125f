// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt, between all types of registers.
#include "reference/ptx/FunctionDecoder.h"
#include "reference/ptx/Lanes.h"

#include <algorithm>
#include <limits>

namespace accc::ptx {

namespace {

/// Values on their way: patterns of the source's type, then of the result's.
struct Values {
  uint64_t bits[warpSize];
};

template <class T> void fetch(const Warp &warp, uint32_t slot, Values &values) {
  const T *from = warp.at<T>(slot);
  ACCC_PTX_LANES
  for (unsigned lane = 0; lane < warpSize; ++lane)
    values.bits[lane] = from[lane];
}
template <class T> void put(const Warp &warp, uint32_t slot, uint32_t mask, const Values &values) {
  forLanes(warp.at<T>(slot), mask, [&](unsigned lane) { return T(values.bits[lane]); });
}

void fetchAny(const Warp &warp, uint32_t slot, unsigned bytes, Values &values) {
  if (bytes == 2)
    fetch<uint16_t>(warp, slot, values);
  else if (bytes == 4)
    fetch<uint32_t>(warp, slot, values);
  else
    fetch<uint64_t>(warp, slot, values);
}
void putAny(const Warp &warp, uint32_t slot, unsigned bytes, uint32_t mask, const Values &values) {
  if (bytes == 2)
    put<uint16_t>(warp, slot, mask, values);
  else if (bytes == 4)
    put<uint32_t>(warp, slot, mask, values);
  else
    put<uint64_t>(warp, slot, mask, values);
}

/// Cut to the type's width and extended as it is signed or not.
void extend(Type type, Values &values) {
  unsigned shift = 64 - type.bits;
  if (type.isSigned()) {
    ACCC_PTX_LANES
    for (unsigned lane = 0; lane < warpSize; ++lane)
      values.bits[lane] = uint64_t(int64_t(values.bits[lane] << shift) >> shift);
  } else {
    ACCC_PTX_LANES
    for (unsigned lane = 0; lane < warpSize; ++lane)
      values.bits[lane] = values.bits[lane] << shift >> shift;
  }
}

double toDouble(Type type, uint64_t bits, bool ftz) {
  if (type.kind == TypeKind::BFloat)
    return fromBFloat(uint16_t(bits));
  if (type.bits == 16)
    return fromHalf(uint16_t(bits));
  if (type.bits == 64)
    return std::bit_cast<double>(bits);
  float value = std::bit_cast<float>(uint32_t(bits));
  return ftz ? flush(value) : value;
}

uint64_t fromDouble(const Conversion &how, double value) {
  if (how.relu && !(value > 0) && value == value)
    value = 0;
  if (how.saturates)
    value = value > 0 ? std::min(value, 1.0) : 0;
  if (how.toInteger)
    value = roundToInteger(value, how.rounding);
  Rounding rounding = how.toInteger ? Rounding::Nearest : how.rounding;
  switch (how.to.kind) {
  case TypeKind::BFloat:
  case TypeKind::BHalfPair:
    return toBFloat(value, rounding);
  case TypeKind::HalfPair:
    return toHalf(value, rounding);
  case TypeKind::TFloat32:
    return std::isnan(value) ? canonicalNaN : uint64_t(roundTo(value, tf32Format, rounding)) << 13;
  default:
    break;
  }
  if (how.to.bits == 16)
    return toHalf(value, rounding);
  if (how.to.bits == 64)
    return std::bit_cast<uint64_t>(canonical(value));
  float result = rounding == Rounding::Nearest
                     ? float(value)
                     : std::bit_cast<float>(roundTo(value, floatFormat, rounding));
  return std::bit_cast<uint32_t>(canonical(how.ftz ? flush(result) : result));
}

uint64_t integerFromDouble(const Conversion &how, double value) {
  const unsigned bits = how.to.bits;
  if (std::isnan(value))
    return how.from.bits == 64 || bits == 64 ? uint64_t(1) << (bits - 1) : 0;
  value = roundToInteger(value, how.rounding);
  double limit = std::ldexp(1.0, int(bits) - (how.to.isSigned() ? 1 : 0));
  if (how.to.isSigned()) {
    if (value >= limit)
      return (uint64_t(1) << (bits - 1)) - 1;
    return value < -limit ? uint64_t(1) << (bits - 1) : uint64_t(int64_t(value));
  }
  if (value >= limit)
    return ~uint64_t(0) >> (64 - bits);
  return value <= 0 ? 0 : uint64_t(value);
}

uint64_t fromInteger(const Conversion &how, uint64_t bits) {
  bool isSigned = how.from.isSigned();
  if (how.to == Type{TypeKind::Float, 64})
    return std::bit_cast<uint64_t>(isSigned ? convertToDouble(how.rounding, int64_t(bits))
                                            : convertToDouble(how.rounding, bits));
  if (how.to == Type{TypeKind::Float, 32})
    return std::bit_cast<uint32_t>(isSigned ? convertToFloat(how.rounding, int64_t(bits))
                                            : convertToFloat(how.rounding, bits));
  // Rounded to odd first where double cannot hold it.
  uint64_t magnitude = isSigned && int64_t(bits) < 0 ? -bits : bits;
  if (magnitude >> 53)
    magnitude = (magnitude >> 10 | ((magnitude & 1023) != 0)) << 10;
  double value = double(magnitude);
  return fromDouble(how, isSigned && int64_t(bits) < 0 ? -value : value);
}

uint64_t clampInteger(const Conversion &how, uint64_t bits) {
  const unsigned width = how.to.bits;
  if (how.to.isSigned()) {
    int64_t most = int64_t(~uint64_t(0) >> (65 - width));
    if (!how.from.isSigned())
      return std::min(bits, uint64_t(most));
    return uint64_t(std::clamp(int64_t(bits), -most - 1, most));
  }
  uint64_t most = ~uint64_t(0) >> (64 - width);
  if (how.from.isSigned() && int64_t(bits) < 0)
    return 0;
  return std::min(bits, most);
}

const Conversion &conversion(const Warp &warp, const Instruction &in) {
  return warp.block->launch.program.conversions[in.target];
}

template <auto F, bool fromFloat> void convert(Warp &warp, const Instruction &in, uint32_t mask) {
  const Conversion how = conversion(warp, in);
  Values values;
  fetchAny(warp, in.a, how.fromBytes, values);
  if (!fromFloat)
    extend(how.from, values);
  for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
    unsigned lane = unsigned(std::countr_zero(lanes));
    if constexpr (fromFloat)
      values.bits[lane] = F(how, toDouble(how.from, values.bits[lane], how.ftz));
    else
      values.bits[lane] = F(how, values.bits[lane]);
  }
  extend(how.to, values);
  putAny(warp, in.result, how.toBytes, mask, values);
}

/// From integer to integer by cutting and extending.
void resize(Warp &warp, const Instruction &in, uint32_t mask) {
  const Conversion &how = conversion(warp, in);
  Values values;
  fetchAny(warp, in.a, how.fromBytes, values);
  extend(how.from, values);
  extend(how.to, values);
  putAny(warp, in.result, how.toBytes, mask, values);
}

/// Two f32 to a pair; the first becomes the upper half.
void convertPair(Warp &warp, const Instruction &in, uint32_t mask) {
  const Conversion how = conversion(warp, in);
  const float *upper = warp.at<float>(in.a), *lower = warp.at<float>(in.b);
  forActiveLanes(warp.at<uint32_t>(in.result), mask, [&](unsigned i) {
    return uint32_t(fromDouble(how, upper[i]) << 16 | fromDouble(how, lower[i]));
  });
}

// The conversions of most kernels.
template <class To, class From> To plain(From value) { return To(value); }
template <bool ftz> float floatToFloat(float value) {
  return canonical(ftz ? flush(value) : value);
}
uint16_t floatToBFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return value == value ? uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16) : uint16_t(0x7fff);
}
float bfloatToFloat(uint16_t bits) { return canonical(fromBFloat(bits)); }
/// Toward zero, clamped; NaN gives 0.
int32_t truncate(float value) {
  if (!(value == value))
    return 0;
  if (value >= 0x1p31f)
    return std::numeric_limits<int32_t>::max();
  return value <= -0x1p31f ? std::numeric_limits<int32_t>::min() : int32_t(value);
}

Handler commonHandler(const Conversion &how) {
  constexpr Type f32{TypeKind::Float, 32}, f64{TypeKind::Float, 64}, s32{TypeKind::Signed, 32},
      u32{TypeKind::Unsigned, 32}, bf16{TypeKind::BFloat, 16};
  if (how.toBytes != how.to.bytes() || how.fromBytes != how.from.bytes() || how.saturates ||
      how.relu)
    return nullptr;
  bool nearest = how.rounding == Rounding::Nearest && !how.toInteger;
  if (how.to == s32 && how.from == f32 && how.rounding == Rounding::Zero)
    return pointwise<truncate, int32_t, float>;
  if (!nearest)
    return nullptr;
  if (how.to == f32 && how.from == s32)
    return pointwise<plain<float, int32_t>, float, int32_t>;
  if (how.to == f32 && how.from == u32)
    return pointwise<plain<float, uint32_t>, float, uint32_t>;
  if (how.to == f64 && how.from == s32)
    return pointwise<plain<double, int32_t>, double, int32_t>;
  if (how.to == f32 && how.from == f32)
    return how.ftz ? pointwise<floatToFloat<true>, float, float>
                   : pointwise<floatToFloat<false>, float, float>;
  if (how.to == bf16 && how.from == f32 && !how.ftz)
    return pointwise<floatToBFloat, uint16_t, float>;
  if (how.to == f32 && how.from == bf16 && !how.ftz)
    return pointwise<bfloatToFloat, float, uint16_t>;
  return nullptr;
}

bool isFloating(Type type) { return !type.isInteger(); }

} // namespace

bool decodeConvert(Decoder &decoder) {
  if (decoder.opcode() != "cvt")
    return false;
  Conversion how;
  std::optional<Rounding> rounding = decoder.modifiers.takeRounding();
  int toInteger = decoder.modifiers.takeAny({"rni", "rzi", "rmi", "rpi"});
  how.rounding = rounding.value_or(Rounding(std::max(toInteger, 0)));
  how.ftz = decoder.modifiers.take("ftz");
  how.saturates = decoder.modifiers.take("sat");
  how.relu = decoder.modifiers.take("relu");
  how.to = decoder.type();
  how.from = decoder.type();
  how.toInteger = toInteger >= 0;
  Instruction &in = decoder.in;
  in.counted = InstructionClass::Conversion;
  bool toPair = how.to.kind == TypeKind::HalfPair || how.to.kind == TypeKind::BHalfPair;
  if (how.from.bits < 8 || how.to.bits < 8 || how.from.kind >= TypeKind::TFloat32)
    decoder.unsupported();
  if (toPair) {
    if (!(how.from == Type{TypeKind::Float, 32}) || !rounding)
      decoder.unsupported();
    decoder.expectOperands(3);
    in.a = decoder.source(1, how.from);
    in.b = decoder.source(2, how.from);
    in.result = decoder.result(0, how.to);
    in.handler = convertPair;
  } else {
    if (how.to.kind > TypeKind::TFloat32)
      decoder.unsupported();
    decoder.expectOperands(2);
    Place from = decoder.wideSource(decoder.operand(1), how.from);
    Place to = decoder.wideResult(decoder.operand(0), how.to);
    if (from.bytes < how.from.bytes())
      decoder.malformed("the source's register is too narrow");
    how.fromBytes = from.bytes;
    how.toBytes = to.bytes;
    in.a = from.slot;
    in.result = to.slot ? to.slot : decoder.scratch(to.bytes);
    if (!isFloating(how.to) && isFloating(how.from))
      in.handler = convert<integerFromDouble, true>;
    else if (isFloating(how.from))
      in.handler = convert<fromDouble, true>;
    else if (isFloating(how.to))
      in.handler = convert<fromInteger, false>;
    else
      in.handler = how.saturates ? convert<clampInteger, false> : resize;
    if (isFloating(how.from) != isFloating(how.to) && !rounding && toInteger < 0)
      decoder.malformed("its rounding is missing");
    if (Handler common = commonHandler(how))
      in.handler = common;
  }
  Program &program = decoder.owner().program;
  in.target = uint32_t(program.conversions.size());
  program.conversions.push_back(how);
  return true;
}

} // namespace accc::ptx
