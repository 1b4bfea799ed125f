// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic of f16 and bf16, alone and in pairs.
#include "reference/ptx/Lanes.h"

#include <algorithm>

namespace accc::ptx {

namespace {

struct Half {
  static double read(uint16_t bits) { return fromHalf(bits); }
  static uint16_t write(double value) { return toHalf(value); }
  static constexpr uint16_t minNormal = 0x0400;
};
struct BFloat {
  static double read(uint16_t bits) { return fromBFloat(bits); }
  static uint16_t write(double value) { return toBFloat(value); }
  static constexpr uint16_t minNormal = 0x0080;
};

constexpr uint16_t halfNaN = 0x7fff;

/// What is done to operands and results.
struct Flags {
  bool ftz, sat, relu, nan;

  uint8_t encode() const {
    return uint8_t(unsigned(ftz) | unsigned(sat) << 1 | unsigned(relu) << 2 | unsigned(nan) << 3);
  }
  static Flags decode(uint8_t bits) {
    return {bool(bits & 1), bool(bits & 2), bool(bits & 4), bool(bits & 8)};
  }
};

template <class F> uint16_t flushed(uint16_t bits, bool ftz) {
  return ftz && (bits & 0x7fff) < F::minNormal ? bits & 0x8000 : bits;
}

enum class HalfOp : uint8_t { Add, Sub, Mul, Fma, Min, Max, Abs, Neg, Exp2, Tanh };

template <class F, HalfOp op>
uint16_t apply(uint16_t first, uint16_t second, uint16_t third, Flags flags) {
  first = flushed<F>(first, flags.ftz);
  second = flushed<F>(second, flags.ftz);
  third = flushed<F>(third, flags.ftz);
  if (op == HalfOp::Abs)
    return first & 0x7fff;
  if (op == HalfOp::Neg)
    return first ^ 0x8000;
  double a = F::read(first), b = F::read(second), c = F::read(third), value;
  if (op == HalfOp::Min || op == HalfOp::Max) {
    bool isMax = op == HalfOp::Max;
    if (a != a || b != b)
      return flags.nan || (a != a && b != b) ? halfNaN : a != a ? second : first;
    if (a == b)
      return std::signbit(a) == isMax ? second : first;
    return (a < b) == isMax ? second : first;
  }
  switch (op) {
  case HalfOp::Add:
    value = fmaToOdd(a, 1, b);
    break;
  case HalfOp::Sub:
    value = fmaToOdd(a, 1, -b);
    break;
  case HalfOp::Mul:
    value = a * b; // exact
    break;
  case HalfOp::Fma:
    value = fmaToOdd(a, b, c);
    break;
  case HalfOp::Exp2:
    value = std::exp2(a);
    break;
  default:
    value = std::tanh(a);
  }
  if (flags.sat)
    value = value > 0 ? std::min(value, 1.0) : 0;
  if (flags.relu && value < 0)
    value = 0;
  return flushed<F>(F::write(value), flags.ftz);
}

template <class F, HalfOp op, class T>
void handler(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.at<T>(in.a);
  const T *b = in.b ? warp.at<T>(in.b) : a;
  const T *c = in.c ? warp.at<T>(in.c) : a;
  Flags flags = Flags::decode(in.immediate);
  forActiveLanes(warp.at<T>(in.result), mask, [=](unsigned i) {
    uint32_t low = apply<F, op>(uint16_t(a[i]), uint16_t(b[i]), uint16_t(c[i]), flags);
    if (sizeof(T) == 2)
      return T(low);
    uint32_t high = apply<F, op>(uint16_t(uint32_t(a[i]) >> 16), uint16_t(uint32_t(b[i]) >> 16),
                                 uint16_t(uint32_t(c[i]) >> 16), flags);
    return T(low | high << 16);
  });
}

template <HalfOp op> Handler handlerFor(Type type) {
  switch (type.kind) {
  case TypeKind::Float:
    return handler<Half, op, uint16_t>;
  case TypeKind::BFloat:
    return handler<BFloat, op, uint16_t>;
  case TypeKind::HalfPair:
    return handler<Half, op, uint32_t>;
  default:
    return handler<BFloat, op, uint32_t>;
  }
}

} // namespace

bool decodeHalf(Decoder &decoder) {
  static constexpr struct {
    std::string_view opcode;
    unsigned sources;
    Handler (*handler)(Type);
    std::string_view modifiers; ///< that it may have
  } rows[] = {{"add", 2, handlerFor<HalfOp::Add>, "rn ftz sat"},
              {"sub", 2, handlerFor<HalfOp::Sub>, "rn ftz sat"},
              {"mul", 2, handlerFor<HalfOp::Mul>, "rn ftz sat"},
              {"fma", 3, handlerFor<HalfOp::Fma>, "rn ftz sat relu"},
              {"min", 2, handlerFor<HalfOp::Min>, "ftz NaN"},
              {"max", 2, handlerFor<HalfOp::Max>, "ftz NaN"},
              {"abs", 1, handlerFor<HalfOp::Abs>, "ftz"},
              {"neg", 1, handlerFor<HalfOp::Neg>, "ftz"},
              {"ex2", 1, handlerFor<HalfOp::Exp2>, "approx ftz"},
              {"tanh", 1, handlerFor<HalfOp::Tanh>, "approx"}};
  std::optional<Type> type = Modifiers(decoder.source().modifiers).takeType();
  if (!type || !type->isHalf())
    return false;
  auto *row = std::ranges::find(rows, decoder.opcode(), [](const auto &r) { return r.opcode; });
  if (row == std::end(rows))
    return false;
  decoder.modifiers.takeType();
  auto take = [&](std::string_view name) {
    return row->modifiers.find(name) != std::string_view::npos && decoder.modifiers.take(name);
  };
  take("rn");
  take("approx");
  sameOperands(decoder, *type, row->sources);
  decoder.in.immediate = Flags{take("ftz"), take("sat"), take("relu"), take("NaN")}.encode();
  decoder.in.counted = row->opcode == "ex2" || row->opcode == "tanh" ? InstructionClass::Special
                                                                     : InstructionClass::Half;
  decoder.in.handler = row->handler(*type);
  return true;
}

} // namespace accc::ptx
