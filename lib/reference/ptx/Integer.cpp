// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer arithmetic.
#include "reference/ptx/Lanes.h"

#include <algorithm>
#include <limits>

namespace accc::ptx {

namespace {

template <class T> using Unsigned = std::make_unsigned_t<T>;
template <class T>
using Wide = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

// Arithmetic wraps around: on unsigned values, of at least 32 bits (uint16_t would become a signed
// int).
template <class T> using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <class T> T add(T a, T b) { return T(Word<T>(a) + Word<T>(b)); }
template <class T> T sub(T a, T b) { return T(Word<T>(a) - Word<T>(b)); }
template <class T> T mulLow(T a, T b) { return T(Word<T>(a) * Word<T>(b)); }
template <class T> T mulHigh(T a, T b) { return T((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T))); }
template <class T> Wide<T> mulWide(T a, T b) { return Wide<T>(a) * Wide<T>(b); }

template <class T> T saturate(int64_t value) {
  return T(
      std::clamp<int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
int32_t addSaturate(int32_t a, int32_t b) { return saturate<int32_t>(int64_t(a) + b); }
int32_t subSaturate(int32_t a, int32_t b) { return saturate<int32_t>(int64_t(a) - b); }

/// A division by zero gives all ones, as devices do; PTX leaves it open.
template <class T> T divide(T a, T b) {
  if (b == 0)
    return T(-1);
  if (std::is_signed_v<T> && b == T(-1))
    return sub(T(0), a);
  return T(a / b);
}
template <class T> T remainder(T a, T b) {
  if (b == 0)
    return a;
  if (std::is_signed_v<T> && b == T(-1))
    return 0;
  return T(a % b);
}

template <class T> T multiplyAdd(T a, T b, T c) { return add(mulLow(a, b), c); }
template <class T> T multiplyAddHigh(T a, T b, T c) { return add(mulHigh(a, b), c); }
template <class T> Wide<T> multiplyAddWide(T a, T b, Wide<T> c) {
  return add<Wide<T>>(Wide<T>(a) * Wide<T>(b), c);
}

/// The lowest 24 bits, extended.
template <class T> Wide<T> low24(T a) { return Wide<T>(T(Word<T>(a) << 8) >> 8); }
template <class T> T mul24Low(T a, T b) { return T(low24(a) * low24(b)); }
template <class T> T mul24High(T a, T b) { return T((low24(a) * low24(b)) >> 16); }
template <class T> T absolute(T a) { return a < 0 ? sub(T(0), a) : a; }
template <class T> T negate(T a) { return sub(T(0), a); }
template <class T> T minimum(T a, T b) { return std::min(a, b); }
template <class T> T maximum(T a, T b) { return std::max(a, b); }
template <class T> T absoluteDifference(T a, T b, T c) {
  return add(c, a < b ? sub(b, a) : sub(a, b));
}

/// F on both halves of a word.
template <auto F, class T> uint32_t onHalves(uint32_t a, uint32_t b) {
  return uint32_t(uint16_t(F(T(a), T(b)))) | uint32_t(uint16_t(F(T(a >> 16), T(b >> 16)))) << 16;
}

template <auto F16, auto FU16> bool pairs(Decoder &decoder, Type type) {
  bool isSigned = type.kind == TypeKind::SignedPair;
  if (!isSigned && type.kind != TypeKind::UnsignedPair)
    return false;
  sameOperands(decoder, type, 2);
  decoder.in.handler = isSigned ? pointwise<onHalves<F16, int16_t>, uint32_t, uint32_t, uint32_t>
                                : pointwise<onHalves<FU16, uint16_t>, uint32_t, uint32_t, uint32_t>;
  return true;
}

// Chains through the carry flag. Subtraction's flag is the borrow.
template <bool subtract, bool readsCarry, bool writesCarry, class T>
void addCarry(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.at<T>(in.a), *b = warp.at<T>(in.b);
  T *result = warp.at<T>(in.result);
  for (; mask; mask &= mask - 1) {
    unsigned lane = unsigned(std::countr_zero(mask));
    unsigned __int128 first = a[lane], second = b[lane];
    unsigned carry = readsCarry ? warp.carry >> lane & 1 : 0;
    unsigned __int128 sum = subtract ? first - second - carry : first + second + carry;
    result[lane] = T(sum);
    if (writesCarry)
      warp.carry = (warp.carry & ~(1u << lane)) | uint32_t(sum >> (8 * sizeof(T)) & 1) << lane;
  }
}

template <bool high, bool readsCarry, bool writesCarry, class T>
void multiplyAddCarry(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.at<T>(in.a), *b = warp.at<T>(in.b), *c = warp.at<T>(in.c);
  T *result = warp.at<T>(in.result);
  for (; mask; mask &= mask - 1) {
    unsigned lane = unsigned(std::countr_zero(mask));
    T product = high ? mulHigh(a[lane], b[lane]) : mulLow(a[lane], b[lane]);
    unsigned __int128 sum = (unsigned __int128)(product) + c[lane];
    if (readsCarry)
      sum += warp.carry >> lane & 1;
    result[lane] = T(sum);
    if (writesCarry)
      warp.carry = (warp.carry & ~(1u << lane)) | uint32_t(sum >> (8 * sizeof(T)) & 1) << lane;
  }
}

template <bool subtract, class T> Handler carryHandler(bool reads, bool writes) {
  if (reads)
    return writes ? addCarry<subtract, true, true, T> : addCarry<subtract, true, false, T>;
  return addCarry<subtract, false, true, T>;
}
template <bool high, class T> Handler carryHandler3(bool reads, bool writes) {
  if (reads)
    return writes ? multiplyAddCarry<high, true, true, T> : multiplyAddCarry<high, true, false, T>;
  return multiplyAddCarry<high, false, true, T>;
}

bool decodeAddSub(Decoder &decoder, bool subtract, bool readsCarry) {
  bool writesCarry = decoder.modifiers.take("cc");
  bool saturates = decoder.modifiers.take("sat");
  Type type = decoder.type();
  if (!readsCarry && !type.isInteger()) {
    if (subtract || saturates)
      decoder.unsupported();
    return pairs<add<int16_t>, add<uint16_t>>(decoder, type);
  }
  sameOperands(decoder, type, 2);
  if (readsCarry || writesCarry) {
    if (type.bits == 32)
      decoder.in.handler = subtract ? carryHandler<true, uint32_t>(readsCarry, writesCarry)
                                    : carryHandler<false, uint32_t>(readsCarry, writesCarry);
    else if (type.bits == 64)
      decoder.in.handler = subtract ? carryHandler<true, uint64_t>(readsCarry, writesCarry)
                                    : carryHandler<false, uint64_t>(readsCarry, writesCarry);
    else
      decoder.unsupported();
  } else if (saturates) {
    if (!(type == Type{TypeKind::Signed, 32}))
      decoder.unsupported();
    decoder.in.handler = subtract ? pointwise<subSaturate, int32_t, int32_t, int32_t>
                                  : pointwise<addSaturate, int32_t, int32_t, int32_t>;
  } else {
    decoder.in.handler = forInteger(decoder, type, [&]<class T>() -> Handler {
      return subtract ? pointwise<sub<T>, T, T, T> : pointwise<add<T>, T, T, T>;
    });
  }
  return true;
}

enum Part { Low, High, Full };

Part part(Decoder &decoder) {
  int which = decoder.modifiers.takeAny({"lo", "hi", "wide"});
  if (which < 0)
    decoder.malformed("'.lo', '.hi' or '.wide' is missing");
  return Part(which);
}

void wideOperands(Decoder &decoder, Type type, bool hasThird) {
  if (type.bits > 32)
    decoder.unsupported();
  Type wide{type.kind, uint8_t(2 * type.bits)};
  decoder.expectOperands(hasThird ? 4 : 3);
  decoder.in.a = decoder.source(1, type);
  decoder.in.b = decoder.source(2, type);
  if (hasThird)
    decoder.in.c = decoder.source(3, wide);
  decoder.in.result = decoder.result(0, wide);
}

bool decodeMultiply(Decoder &decoder) {
  Part which = part(decoder);
  Type type = decoder.type();
  if (which == Full)
    wideOperands(decoder, type, false);
  else
    sameOperands(decoder, type, 2);
  decoder.in.handler = forInteger(decoder, type, [&]<class T>() -> Handler {
    return which == Low    ? pointwise<mulLow<T>, T, T, T>
           : which == High ? pointwise<mulHigh<T>, T, T, T>
                           : pointwise<mulWide<T>, Wide<T>, T, T>;
  });
  return true;
}

bool decodeMultiplyAdd(Decoder &decoder, bool readsCarry) {
  Part which = part(decoder);
  bool writesCarry = decoder.modifiers.take("cc");
  Type type = decoder.type();
  if (which == Full)
    wideOperands(decoder, type, true);
  else
    sameOperands(decoder, type, 3);
  if (readsCarry || writesCarry) {
    if (which == Full || type.bits < 32)
      decoder.unsupported();
    decoder.in.handler = forInteger(decoder, type, [&]<class T>() -> Handler {
      return which == High ? carryHandler3<true, Unsigned<T>>(readsCarry, writesCarry)
                           : carryHandler3<false, Unsigned<T>>(readsCarry, writesCarry);
    });
    // The high part of a signed product is another.
    if (which == High && type.isSigned())
      decoder.unsupported();
    return true;
  }
  decoder.in.handler = forInteger(decoder, type, [&]<class T>() -> Handler {
    return which == Low    ? pointwise<multiplyAdd<T>, T, T, T, T>
           : which == High ? pointwise<multiplyAddHigh<T>, T, T, T, T>
                           : pointwise<multiplyAddWide<T>, Wide<T>, T, T, Wide<T>>;
  });
  return true;
}

template <class T> T mad24Low(T a, T b, T c) { return add(mul24Low(a, b), c); }
template <class T> T mad24High(T a, T b, T c) { return add(mul24High(a, b), c); }

bool decode24(Decoder &decoder, bool adds) {
  Part which = part(decoder);
  Type type = decoder.type();
  if (which == Full || type.bits != 32)
    decoder.unsupported();
  sameOperands(decoder, type, adds ? 3 : 2);
  auto pick = [&]<class T>() -> Handler {
    if (adds)
      return which == Low ? pointwise<mad24Low<T>, T, T, T, T>
                          : pointwise<mad24High<T>, T, T, T, T>;
    return which == Low ? pointwise<mul24Low<T>, T, T, T> : pointwise<mul24High<T>, T, T, T>;
  };
  decoder.in.handler =
      type.isSigned() ? pick.template operator()<int32_t>() : pick.template operator()<uint32_t>();
  return true;
}

} // namespace

bool decodeInteger(Decoder &decoder) {
  std::string_view opcode = decoder.opcode();
  // Opcodes that floating point shares are decided by the type.
  std::optional<Type> type = Modifiers(decoder.source().modifiers).takeType();
  if (!type || type->isFloat() || type->isHalf() || type->isPredicate())
    return false;
  if (opcode == "add" || opcode == "sub")
    return decodeAddSub(decoder, opcode == "sub", false);
  if (opcode == "addc" || opcode == "subc")
    return decodeAddSub(decoder, opcode == "subc", true);
  if (opcode == "mul")
    return decodeMultiply(decoder);
  if (opcode == "mad" || opcode == "madc")
    return decodeMultiplyAdd(decoder, opcode == "madc");
  if (opcode == "mul24" || opcode == "mad24")
    return decode24(decoder, opcode == "mad24");
  if (opcode == "div" || opcode == "rem") {
    Type own = decoder.type();
    sameOperands(decoder, own, 2);
    decoder.in.counted = InstructionClass::Special;
    decoder.in.handler = forInteger(decoder, own, [&]<class T>() -> Handler {
      return opcode == "div" ? pointwise<divide<T>, T, T, T> : pointwise<remainder<T>, T, T, T>;
    });
    return true;
  }
  if (opcode == "min" || opcode == "max") {
    Type own = decoder.type();
    if (!own.isInteger())
      return opcode == "min" ? pairs<minimum<int16_t>, minimum<uint16_t>>(decoder, own)
                             : pairs<maximum<int16_t>, maximum<uint16_t>>(decoder, own);
    sameOperands(decoder, own, 2);
    decoder.in.handler = forInteger(decoder, own, [&]<class T>() -> Handler {
      return opcode == "min" ? pointwise<minimum<T>, T, T, T> : pointwise<maximum<T>, T, T, T>;
    });
    return true;
  }
  if (opcode == "abs" || opcode == "neg") {
    Type own = decoder.type();
    if (!own.isSigned())
      decoder.unsupported();
    sameOperands(decoder, own, 1);
    decoder.in.handler = forInteger(decoder, own, [&]<class T>() -> Handler {
      return opcode == "abs" ? pointwise<absolute<T>, T, T> : pointwise<negate<T>, T, T>;
    });
    return true;
  }
  if (opcode == "sad") {
    Type own = decoder.type();
    sameOperands(decoder, own, 3);
    decoder.in.handler = forInteger(decoder, own, [&]<class T>() -> Handler {
      return pointwise<absoluteDifference<T>, T, T, T, T>;
    });
    return true;
  }
  return false;
}

} // namespace accc::ptx
