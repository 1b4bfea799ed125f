// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparison and selection.
#include "reference/ptx/Lanes.h"

#include <algorithm>
#include <limits>

namespace accc::ptx {

namespace {

enum class Relation : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Lo,
  Ls,
  Hi,
  Hs,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  NaN,
};

/// An operand as it is compared: halves as float.
template <bool ftz, class T> T read(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return ftz ? flush(value) : value;
  return value;
}

template <Relation r, class T> bool holds(T a, T b) {
  bool unordered = std::is_floating_point_v<T> && !(a == a && b == b);
  switch (r) {
  case Relation::Eq:
    return a == b;
  case Relation::Ne: // false for NaN
    return a != b && !unordered;
  case Relation::Lt:
  case Relation::Lo:
    return a < b;
  case Relation::Le:
  case Relation::Ls:
    return a <= b;
  case Relation::Gt:
  case Relation::Hi:
    return a > b;
  case Relation::Ge:
  case Relation::Hs:
    return a >= b;
  case Relation::Equ:
    return a == b || unordered;
  case Relation::Neu:
    return a != b;
  case Relation::Ltu:
    return !(a >= b);
  case Relation::Leu:
    return !(a > b);
  case Relation::Gtu:
    return !(a <= b);
  case Relation::Geu:
    return !(a < b);
  case Relation::Num:
    return !unordered;
  case Relation::NaN:
    return unordered;
  }
  return false;
}

/// The lanes in which the relation holds.
template <Relation r, bool ftz, class T>
uint32_t compare(const Warp &warp, uint32_t slotA, uint32_t slotB) {
  const T *a = warp.at<T>(slotA), *b = warp.at<T>(slotB);
  uint32_t result = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    result |= uint32_t(holds<r, T>(read<ftz>(a[lane]), read<ftz>(b[lane]))) << lane;
  return result;
}

/// f16 and bf16, `shift` bits up in their register.
template <bool isBFloat, bool ftz, class T>
uint32_t compareHalves(const Warp &warp, uint32_t slotA, uint32_t slotB, Relation relation,
                       unsigned shift) {
  const T *a = warp.at<T>(slotA), *b = warp.at<T>(slotB);
  uint32_t result = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    auto value = [&](T bits) {
      uint16_t half = uint16_t(uint32_t(bits) >> shift);
      if (ftz && (half & 0x7fff) < (isBFloat ? 0x80 : 0x400))
        half &= 0x8000;
      return isBFloat ? fromBFloat(half) : fromHalf(half);
    };
    float x = value(a[lane]), y = value(b[lane]);
    bool unordered = !(x == x && y == y), hold = false;
    switch (relation) {
    case Relation::Eq:
    case Relation::Equ:
      hold = x == y;
      break;
    case Relation::Ne:
    case Relation::Neu:
      hold = x != y && !unordered;
      break;
    case Relation::Lt:
    case Relation::Ltu:
      hold = x < y;
      break;
    case Relation::Le:
    case Relation::Leu:
      hold = x <= y;
      break;
    case Relation::Gt:
    case Relation::Gtu:
      hold = x > y;
      break;
    case Relation::Ge:
    case Relation::Geu:
      hold = x >= y;
      break;
    case Relation::Num:
      hold = !unordered;
      break;
    default:
      break;
    }
    hold |= unordered &&
            ((relation >= Relation::Equ && relation <= Relation::Geu) || relation == Relation::NaN);
    result |= uint32_t(hold) << lane;
  }
  return result;
}

using Compare = uint32_t (*)(const Warp &, uint32_t, uint32_t);

enum class Combine : uint8_t { None, And, Or, Xor };

uint32_t combined(uint32_t value, uint32_t other, Combine combine) {
  switch (combine) {
  case Combine::And:
    return value & other;
  case Combine::Or:
    return value | other;
  case Combine::Xor:
    return value ^ other;
  case Combine::None:
    break;
  }
  return value;
}

void assign(Warp &warp, uint32_t slot, uint32_t mask, uint32_t value) {
  uint32_t &result = warp.predicate(slot);
  result = (result & ~mask) | (value & mask);
}

/// Instruction::immediate: the combination in the low bits, then whether its predicate is negated,
/// then (of `set`) whether the result is floating point, then (of halves) flags and the relation.
constexpr uint8_t negatedBit = 4, floatBit = 8;

/// setp p|q, a, b, c: c is the predicate to combine with.
template <Relation r, bool ftz, class T>
void setPredicate(Warp &warp, const Instruction &in, uint32_t mask) {
  uint32_t value = compare<r, ftz, T>(warp, in.a, in.b), inverse = ~value;
  if (Combine combine = Combine(in.immediate & 3); combine != Combine::None) {
    uint32_t other = warp.predicate(in.c);
    other = in.immediate & negatedBit ? ~other : other;
    value = combined(value, other, combine);
    inverse = combined(inverse, other, combine);
  }
  assign(warp, in.result, mask, value);
  if (in.d)
    assign(warp, in.d, mask, inverse);
}

template <Relation r, bool ftz, class T>
void setValue(Warp &warp, const Instruction &in, uint32_t mask) {
  uint32_t value = compare<r, ftz, T>(warp, in.a, in.b);
  if (Combine combine = Combine(in.immediate & 3); combine != Combine::None) {
    uint32_t other = warp.predicate(in.c);
    value = combined(value, in.immediate & negatedBit ? ~other : other, combine);
  }
  uint32_t yes = in.immediate & floatBit ? 0x3f800000 : ~0u;
  forLanes(warp.at<uint32_t>(in.result), mask,
           [=](unsigned i) { return value >> i & 1 ? yes : 0; });
}

/// Of halves: in.target holds type and relation.
struct HalfComparison {
  Relation relation;
  bool bfloat, pair, ftz;

  uint32_t encode() const {
    return uint32_t(relation) | uint32_t(bfloat) << 8 | uint32_t(pair) << 9 | uint32_t(ftz) << 10;
  }
  static HalfComparison decode(uint32_t bits) {
    return {Relation(bits & 255), bool(bits >> 8 & 1), bool(bits >> 9 & 1), bool(bits >> 10 & 1)};
  }
  uint32_t compare(const Warp &warp, const Instruction &in, unsigned shift) const {
    auto pick = [&]<bool b, bool f>() {
      return pair ? compareHalves<b, f, uint32_t>(warp, in.a, in.b, relation, shift)
                  : compareHalves<b, f, uint16_t>(warp, in.a, in.b, relation, shift);
    };
    if (bfloat)
      return ftz ? pick.template operator()<true, true>() : pick.template operator()<true, false>();
    return ftz ? pick.template operator()<false, true>() : pick.template operator()<false, false>();
  }
};

void setHalfPredicate(Warp &warp, const Instruction &in, uint32_t mask) {
  HalfComparison how = HalfComparison::decode(in.target);
  uint32_t value = how.compare(warp, in, 0);
  // Of a pair, the second result is that of the upper half.
  uint32_t second = how.pair ? how.compare(warp, in, 16) : ~value;
  if (Combine combine = Combine(in.immediate & 3); combine != Combine::None) {
    uint32_t other = warp.predicate(in.c);
    other = in.immediate & negatedBit ? ~other : other;
    value = combined(value, other, combine);
    second = combined(second, other, combine);
  }
  assign(warp, in.result, mask, value);
  if (in.d)
    assign(warp, in.d, mask, second);
}

template <bool ftz, class T, template <Relation, bool, class> class Of>
Handler forRelation(Relation relation) {
  switch (relation) {
#define ROW(NAME)                                                                                  \
  case Relation::NAME:                                                                             \
    return Of<Relation::NAME, ftz, T>::handler
    ROW(Eq);
    ROW(Ne);
    ROW(Lt);
    ROW(Le);
    ROW(Gt);
    ROW(Ge);
    ROW(Lo);
    ROW(Ls);
    ROW(Hi);
    ROW(Hs);
    ROW(Equ);
    ROW(Neu);
    ROW(Ltu);
    ROW(Leu);
    ROW(Gtu);
    ROW(Geu);
    ROW(Num);
    ROW(NaN);
#undef ROW
  }
  return nullptr;
}
template <Relation r, bool ftz, class T> struct ToPredicate {
  static constexpr Handler handler = setPredicate<r, ftz, T>;
};
template <Relation r, bool ftz, class T> struct ToValue {
  static constexpr Handler handler = setValue<r, ftz, T>;
};

template <template <Relation, bool, class> class Of>
Handler comparison(Decoder &decoder, Type type, Relation relation, bool ftz) {
  if (type.isFloat())
    return forFloat(decoder, type, [&]<class T>() -> Handler {
      return ftz ? forRelation<true, T, Of>(relation) : forRelation<false, T, Of>(relation);
    });
  // lo, ls, hi and hs compare as unsigned, and so do all on bits.
  if (relation >= Relation::Lo && relation <= Relation::Hs)
    type.kind = TypeKind::Unsigned;
  return forInteger(decoder, type, [&]<class T>() { return forRelation<false, T, Of>(relation); });
}

Relation takeRelation(Decoder &decoder, Type type) {
  int which = decoder.modifiers.takeAny({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs",
                                         "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (which < 0)
    decoder.unsupported("its comparison is missing");
  Relation relation = Relation(which);
  if (type.isInteger() ? relation > Relation::Hs
                       : relation >= Relation::Lo && relation <= Relation::Hs)
    decoder.malformed("the comparison does not fit the type");
  return relation;
}

void decodeCombination(Decoder &decoder) {
  Combine combine = Combine(decoder.modifiers.takeAny({"and", "or", "xor"}) + 1);
  decoder.expectOperands(combine == Combine::None ? 3 : 4);
  if (combine == Combine::None)
    return;
  const Operand &other = decoder.operand(3);
  decoder.in.c = decoder.predicate(other);
  decoder.in.immediate = uint8_t(unsigned(combine) | (other.negated ? negatedBit : 0));
}

bool decodeSetPredicate(Decoder &decoder) {
  Type type = decoder.type();
  Relation relation = takeRelation(decoder, type);
  bool ftz = decoder.modifiers.take("ftz");
  decodeCombination(decoder);
  Instruction &in = decoder.in;
  in.a = decoder.source(1, type);
  in.b = decoder.source(2, type);
  const Type predicate{TypeKind::Predicate, 1};
  const Operand &to = decoder.operand(0);
  if (to.kind == Operand::Pair) {
    in.result = decoder.result(to.elements[0], predicate);
    in.d = decoder.result(to.elements[1], predicate);
  } else {
    in.result = decoder.result(to, predicate);
  }
  if (type.isHalf()) {
    bool bfloat = type.kind == TypeKind::BFloat || type.kind == TypeKind::BHalfPair;
    in.target = HalfComparison{relation, bfloat, type.bits == 32, ftz}.encode();
    in.counted = InstructionClass::Half;
    in.handler = setHalfPredicate;
    return true;
  }
  if (type.isFloat())
    in.counted = type.bits == 64 ? InstructionClass::Double : InstructionClass::Float;
  in.handler = comparison<ToPredicate>(decoder, type, relation, ftz);
  return true;
}

bool decodeSet(Decoder &decoder) {
  Type to = decoder.type(), type = decoder.type();
  Relation relation = takeRelation(decoder, type);
  bool ftz = decoder.modifiers.take("ftz");
  if (to.bits != 32 || type.isHalf())
    decoder.unsupported();
  decodeCombination(decoder);
  decoder.in.immediate |= to.isFloat() ? floatBit : 0;
  decoder.in.a = decoder.source(1, type);
  decoder.in.b = decoder.source(2, type);
  decoder.in.result = decoder.result(0, to);
  decoder.in.handler = comparison<ToValue>(decoder, type, relation, ftz);
  return true;
}

template <class T> void select(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.at<T>(in.a), *b = warp.at<T>(in.b);
  uint32_t which = warp.predicate(in.c);
  forLanes(warp.at<T>(in.result), mask, [=](unsigned i) { return which >> i & 1 ? a[i] : b[i]; });
}

template <class T> T selectNegative(T a, T b, int32_t c) { return c >= 0 ? a : b; }
template <bool ftz, class T> T selectNegativeFloat(T a, T b, float c) {
  return read<ftz>(c) >= 0 ? a : b;
}

/// Values that are only moved, whatever their type.
template <class Pick> Handler forSize(Decoder &decoder, Type type, Pick pick) {
  return forInteger(decoder, Type{TypeKind::Unsigned, type.bits}, pick);
}

bool decodeSelect(Decoder &decoder) {
  Type type = decoder.type();
  decoder.expectOperands(4);
  decoder.in.a = decoder.source(1, type);
  decoder.in.b = decoder.source(2, type);
  decoder.in.c = decoder.predicate(decoder.operand(3));
  decoder.in.result = decoder.result(0, type);
  decoder.in.handler = forSize(decoder, type, []<class T>() -> Handler { return select<T>; });
  return true;
}

bool decodeSelectNegative(Decoder &decoder) {
  Type type = decoder.type(), by = decoder.type();
  bool ftz = decoder.modifiers.take("ftz");
  bool isFloat = by == Type{TypeKind::Float, 32};
  if (!isFloat && !(by == Type{TypeKind::Signed, 32}))
    decoder.unsupported();
  decoder.expectOperands(4);
  decoder.in.a = decoder.source(1, type);
  decoder.in.b = decoder.source(2, type);
  decoder.in.c = decoder.source(3, by);
  decoder.in.result = decoder.result(0, type);
  decoder.in.handler = forSize(decoder, type, [&]<class T>() -> Handler {
    return !isFloat ? pointwise<selectNegative<T>, T, T, T, int32_t>
           : ftz    ? pointwise<selectNegativeFloat<true, T>, T, T, T, float>
                    : pointwise<selectNegativeFloat<false, T>, T, T, T, float>;
  });
  return true;
}

template <class T> bool isOfClass(T value, unsigned which) {
  switch (which) {
  case 0:
    return std::isfinite(value);
  case 1:
    return std::isinf(value);
  case 2:
    return !std::isnan(value);
  case 3:
    return std::isnan(value);
  case 4:
    return std::isnormal(value) || value == 0; // zero counts as normal
  default:
    return std::fpclassify(value) == FP_SUBNORMAL;
  }
}
template <class T> void testProperty(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.at<T>(in.a);
  uint32_t value = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    value |= uint32_t(isOfClass(a[lane], in.immediate)) << lane;
  assign(warp, in.result, mask, value);
}

bool decodeTest(Decoder &decoder) {
  int which = decoder.modifiers.takeAny(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (which < 0)
    decoder.unsupported();
  Type type = decoder.type();
  decoder.expectOperands(2);
  decoder.in.immediate = uint8_t(which);
  decoder.in.a = decoder.source(1, type);
  decoder.in.result = decoder.predicate(decoder.operand(0));
  decoder.in.handler =
      forFloat(decoder, type, []<class T>() -> Handler { return testProperty<T>; });
  return true;
}

} // namespace

bool decodeCompare(Decoder &decoder) {
  static constexpr struct {
    std::string_view opcode;
    bool (*decode)(Decoder &);
  } rows[] = {{"setp", decodeSetPredicate},
              {"set", decodeSet},
              {"selp", decodeSelect},
              {"slct", decodeSelectNegative},
              {"testp", decodeTest}};
  auto *row = std::ranges::find(rows, decoder.opcode(), [](const auto &r) { return r.opcode; });
  return row != std::end(rows) && row->decode(decoder);
}

} // namespace accc::ptx
