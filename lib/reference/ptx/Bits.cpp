// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Logic, shifts and bit fields.
#include "reference/ptx/Lanes.h"

#include <algorithm>

namespace accc::ptx {

namespace {

template <class T> T bitAnd(T a, T b) { return T(a & b); }
template <class T> T bitOr(T a, T b) { return T(a | b); }
template <class T> T bitXor(T a, T b) { return T(a ^ b); }
template <class T> T bitNot(T a) { return T(~a); }
template <class T> T isZero(T a) { return a == 0; }

/// Shifts by the width or more shift everything out.
template <class T> T shiftLeft(T a, uint32_t by) {
  constexpr uint32_t bits = 8 * sizeof(T);
  return by >= bits ? T(0) : T(std::make_unsigned_t<T>(a) << (by & (bits - 1)));
}
template <class T> T shiftRight(T a, uint32_t by) {
  constexpr uint32_t bits = 8 * sizeof(T);
  if (std::is_signed_v<T>)
    return T(a >> (by >= bits ? bits - 1 : by));
  return by >= bits ? T(0) : T(a >> (by & (bits - 1)));
}

template <bool left, bool wraps> uint32_t funnelShift(uint32_t low, uint32_t high, uint32_t by) {
  by = wraps ? by & 31 : std::min(by, 32u);
  uint64_t both = uint64_t(high) << 32 | low;
  return left ? uint32_t(both << by >> 32) : uint32_t(both >> by);
}

void lookup3(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t *a = warp.at<uint32_t>(in.a), *b = warp.at<uint32_t>(in.b),
                 *c = warp.at<uint32_t>(in.c);
  const unsigned table = in.immediate;
  forLanes(warp.at<uint32_t>(in.result), mask, [=](unsigned i) {
    uint32_t result = 0;
    for (unsigned row = 0; row < 8; ++row)
      if (table >> row & 1)
        result |= (row & 4 ? a[i] : ~a[i]) & (row & 2 ? b[i] : ~b[i]) & (row & 1 ? c[i] : ~c[i]);
    return result;
  });
}

template <class T> T extractField(T a, uint32_t first, uint32_t count) {
  constexpr uint32_t bits = 8 * sizeof(T);
  using U = std::make_unsigned_t<T>;
  uint32_t position = first & 255, length = count & 255;
  U sign = 0;
  if (std::is_signed_v<T> && length)
    sign = U(a) >> std::min(position + length - 1, bits - 1) & 1;
  U value = position >= bits ? 0 : U(a) >> position;
  uint32_t there = position >= bits ? 0 : std::min(length, bits - position);
  U taken = there >= bits ? ~U(0) : (U(1) << there) - 1;
  // Bits above the field repeat its sign.
  return T((value & taken) | (sign ? ~taken : 0));
}

template <class T> T insertField(T from, T into, uint32_t first, uint32_t count) {
  constexpr uint32_t bits = 8 * sizeof(T);
  uint32_t position = first & 255, length = count & 255;
  if (position >= bits || length == 0)
    return into;
  T ones = length >= bits ? ~T(0) : T((T(1) << length) - 1);
  T field = T(ones << position);
  return T((into & ~field) | (T(from << position) & field));
}

template <bool shiftAmount, class T> uint32_t findLeading(T a) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t bits = 8 * sizeof(T);
  U value = std::is_signed_v<T> && a < 0 ? U(~U(a)) : U(a);
  if (value == 0)
    return ~0u;
  uint32_t position = bits - 1 - uint32_t(std::countl_zero(value));
  return shiftAmount ? bits - 1 - position : position;
}

template <class T> T reverse(T a) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i)
    result |= T(a >> i & 1) << (8 * sizeof(T) - 1 - i);
  return result;
}
template <class T> uint32_t leadingZeros(T a) { return uint32_t(std::countl_zero(a)); }
template <class T> uint32_t population(T a) { return uint32_t(std::popcount(a)); }

enum PermuteMode { Default, Forward4, Backward4, Replicate8, EdgeLeft, EdgeRight, Replicate16 };

uint32_t permute(uint32_t a, uint32_t b, uint32_t selector, unsigned mode) {
  if (mode != Default) {
    // The other modes stand for a selector each.
    static constexpr uint32_t selectors[][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
        {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
        {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
    selector = selectors[mode - 1][selector & 3];
  }
  uint64_t both = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t select = selector >> (4 * i) & 15, byte = uint32_t(both >> (8 * (select & 7))) & 255;
    if (select & 8)
      byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

void permuteHandler(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t *a = warp.at<uint32_t>(in.a), *b = warp.at<uint32_t>(in.b),
                 *c = warp.at<uint32_t>(in.c);
  const unsigned mode = in.immediate;
  forActiveLanes(warp.at<uint32_t>(in.result), mask,
                 [=](unsigned i) { return permute(a[i], b[i], c[i], mode); });
}

template <class Op> void predicateLogic(Warp &warp, const Instruction &in, uint32_t mask) {
  uint32_t &result = warp.predicate(in.result);
  uint32_t value = Op()(warp.predicate(in.a), in.b ? warp.predicate(in.b) : 0);
  result = (result & ~mask) | (value & mask);
}
struct And {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a & b; }
};
struct Or {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a | b; }
};
struct Xor {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a ^ b; }
};
struct Not {
  uint32_t operator()(uint32_t a, uint32_t) const { return ~a; }
};

bool decodeLogic(Decoder &decoder) {
  std::string_view opcode = decoder.opcode();
  Type type = decoder.type();
  bool unary = opcode == "not" || opcode == "cnot";
  sameOperands(decoder, type, unary ? 1 : 2);
  if (type.isPredicate()) {
    if (opcode == "cnot")
      decoder.unsupported();
    decoder.in.handler = opcode == "and"   ? predicateLogic<And>
                         : opcode == "or"  ? predicateLogic<Or>
                         : opcode == "xor" ? predicateLogic<Xor>
                                           : predicateLogic<Not>;
    return true;
  }
  if (type.kind != TypeKind::Bits)
    decoder.unsupported();
  decoder.in.handler = forInteger(decoder, type, [&]<class T>() -> Handler {
    return opcode == "and"   ? pointwise<bitAnd<T>, T, T, T>
           : opcode == "or"  ? pointwise<bitOr<T>, T, T, T>
           : opcode == "xor" ? pointwise<bitXor<T>, T, T, T>
           : opcode == "not" ? pointwise<bitNot<T>, T, T>
                             : pointwise<isZero<T>, T, T>;
  });
  return true;
}

constexpr Type b32{TypeKind::Bits, 32};

bool decodeShift(Decoder &decoder) {
  Type type = decoder.type();
  decoder.expectOperands(3);
  decoder.in.a = decoder.source(1, type);
  decoder.in.b = decoder.source(2, b32);
  decoder.in.result = decoder.result(0, type);
  decoder.in.handler = forInteger(decoder, type, [&]<class T>() -> Handler {
    return decoder.opcode() == "shl" ? pointwise<shiftLeft<T>, T, T, uint32_t>
                                     : pointwise<shiftRight<T>, T, T, uint32_t>;
  });
  return true;
}

bool decodeFunnel(Decoder &decoder) {
  bool left = decoder.modifiers.takeAny({"l", "r"}) == 0;
  bool wraps = decoder.modifiers.takeAny({"clamp", "wrap"}) == 1;
  sameOperands(decoder, decoder.type(), 3);
  using U = uint32_t;
  decoder.in.handler = left    ? wraps ? pointwise<funnelShift<true, true>, U, U, U, U>
                                       : pointwise<funnelShift<true, false>, U, U, U, U>
                          : wraps ? pointwise<funnelShift<false, true>, U, U, U, U>
                               : pointwise<funnelShift<false, false>, U, U, U, U>;
  return true;
}

/// An integer literal.
uint8_t immediate(Decoder &decoder, size_t operand) {
  if (decoder.operand(operand).kind != Operand::Integer)
    decoder.malformed("a literal is expected");
  return uint8_t(decoder.operand(operand).value);
}

bool decodeField(Decoder &decoder) {
  bool inserts = decoder.opcode() == "bfi";
  Type type = decoder.type();
  if (type.bits < 32)
    decoder.unsupported();
  decoder.expectOperands(inserts ? 5 : 4);
  Instruction &in = decoder.in;
  in.a = decoder.source(1, type);
  if (inserts) {
    in.b = decoder.source(2, type);
    in.c = decoder.source(3, b32);
    in.d = decoder.source(4, b32);
  } else {
    in.b = decoder.source(2, b32);
    in.c = decoder.source(3, b32);
  }
  in.result = decoder.result(0, type);
  in.handler = forInteger(decoder, type, [&]<class T>() -> Handler {
    if (!inserts)
      return pointwise<extractField<T>, T, T, uint32_t, uint32_t>;
    using U = std::make_unsigned_t<T>;
    return pointwise<insertField<U>, U, U, U, uint32_t, uint32_t>;
  });
  return true;
}

bool decodeCount(Decoder &decoder) {
  std::string_view opcode = decoder.opcode();
  bool shiftAmount = decoder.modifiers.take("shiftamt");
  Type type = decoder.type();
  if (type.bits < 32)
    decoder.unsupported();
  decoder.expectOperands(2);
  decoder.in.a = decoder.source(1, type);
  decoder.in.result = decoder.result(0, opcode == "brev" ? type : b32);
  decoder.in.handler = forInteger(decoder, type, [&]<class T>() -> Handler {
    using U = std::make_unsigned_t<T>;
    if (opcode == "brev")
      return pointwise<reverse<U>, U, U>;
    if (opcode == "clz")
      return pointwise<leadingZeros<U>, uint32_t, U>;
    if (opcode == "popc")
      return pointwise<population<U>, uint32_t, U>;
    return shiftAmount ? pointwise<findLeading<true, T>, uint32_t, T>
                       : pointwise<findLeading<false, T>, uint32_t, T>;
  });
  return true;
}

} // namespace

bool decodeBits(Decoder &decoder) {
  std::string_view opcode = decoder.opcode();
  auto isOneOf = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, opcode) != names.end();
  };
  if (isOneOf({"and", "or", "xor", "not", "cnot"}))
    return decodeLogic(decoder);
  if (isOneOf({"shl", "shr"}))
    return decodeShift(decoder);
  if (opcode == "shf")
    return decodeFunnel(decoder);
  if (isOneOf({"bfe", "bfi"}))
    return decodeField(decoder);
  if (isOneOf({"brev", "clz", "popc", "bfind"}))
    return decodeCount(decoder);
  if (opcode == "lop3") {
    Type type = decoder.type();
    decoder.expectOperands(5);
    decoder.in.a = decoder.source(1, type);
    decoder.in.b = decoder.source(2, type);
    decoder.in.c = decoder.source(3, type);
    decoder.in.immediate = immediate(decoder, 4);
    decoder.in.result = decoder.result(0, type);
    decoder.in.handler = lookup3;
    return true;
  }
  if (opcode == "prmt") {
    sameOperands(decoder, decoder.type(), 3);
    decoder.in.immediate =
        uint8_t(decoder.modifiers.takeAny({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) + 1);
    decoder.in.handler = permuteHandler;
    return true;
  }
  return false;
}

} // namespace accc::ptx
