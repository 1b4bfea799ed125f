// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic and elementary functions of f32 and f64.
#include "reference/ptx/Lanes.h"

#include <algorithm>

namespace accc::ptx {

namespace {

/// Flushes operands and results to zero where the template's flag says so; canonical NaN; clamps to
/// [0, 1].
template <bool ftz, class T> T in(T value) { return ftz ? flush(value) : value; }
template <bool ftz, bool sat, class T> T out(T value) {
  if (ftz)
    value = flush(value);
  if (sat) // NaN becomes 0
    return value > T(0) ? (value < T(1) ? value : T(1)) : T(0);
  return canonical(value);
}

template <bool ftz, bool sat, class T> T add(T a, T b) {
  return out<ftz, sat>(in<ftz>(a) + in<ftz>(b));
}
template <bool ftz, bool sat, class T> T sub(T a, T b) {
  return out<ftz, sat>(in<ftz>(a) - in<ftz>(b));
}
template <bool ftz, bool sat, class T> T mul(T a, T b) {
  return out<ftz, sat>(in<ftz>(a) * in<ftz>(b));
}
template <bool ftz, bool sat, class T> T divide(T a, T b) {
  return out<ftz, sat>(in<ftz>(a) / in<ftz>(b));
}
template <bool ftz, bool sat, class T> T reciprocal(T a) {
  return out<ftz, sat>(T(1) / in<ftz>(a));
}
template <bool ftz, bool sat, class T> T squareRoot(T a) {
  return out<ftz, sat>(std::sqrt(in<ftz>(a)));
}
template <bool ftz, bool sat, class T> T reciprocalRoot(T a) {
  return out<ftz, sat>(T(1.0 / std::sqrt(double(in<ftz>(a)))));
}
template <bool ftz, bool sat, class T> T absolute(T a) { return std::fabs(in<ftz>(a)); }
template <bool ftz, bool sat, class T> T negate(T a) { return -in<ftz>(a); }
template <bool ftz, bool sat> float exp2Approx(float a) {
  return out<ftz, sat>(float(std::exp2(double(in<ftz>(a)))));
}
template <bool ftz, bool sat> float log2Approx(float a) {
  return out<ftz, sat>(float(std::log2(double(in<ftz>(a)))));
}
template <bool ftz, bool sat> float sinApprox(float a) {
  return out<ftz, sat>(float(std::sin(double(in<ftz>(a)))));
}
template <bool ftz, bool sat> float cosApprox(float a) {
  return out<ftz, sat>(float(std::cos(double(in<ftz>(a)))));
}
template <bool ftz, bool sat> float tanhApprox(float a) {
  return out<ftz, sat>(float(std::tanh(double(a))));
}
/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 work on the upper 32 bits.
double upper(double a) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(a) & 0xffffffff00000000);
}
double flush64(double a) { return std::fabs(a) < 0x1p-1022 ? std::copysign(0.0, a) : a; }
double reciprocalUpper(double a) { return flush64(upper(canonical(1 / flush64(upper(a))))); }
double reciprocalRootUpper(double a) { return upper(canonical(1 / std::sqrt(flush64(upper(a))))); }

template <bool ftz, bool nan, bool isMax, class T> T extremum(T first, T second) {
  T a = in<ftz>(first), b = in<ftz>(second);
  bool aIsNan = !(a == a), bIsNan = !(b == b);
  T ordered = a == b ? (std::signbit(a) == isMax ? b : a) : ((a < b) == isMax ? b : a);
  if (nan)
    return aIsNan || bIsNan ? canonical(std::numeric_limits<T>::quiet_NaN()) : ordered;
  T other = aIsNan ? b : a;
  return aIsNan || bIsNan ? canonical(other) : ordered;
}
template <class T> T copySign(T sign, T magnitude) { // the sign comes first
  return std::copysign(magnitude, sign);
}

// fma with the processor's own instruction where it has one; the library's is slow. Both are exact.
template <bool ftz, bool sat, class T>
[[gnu::always_inline]] inline void fmaLanes(Warp &warp, const Instruction &instruction,
                                            uint32_t mask) {
  const T *a = warp.at<T>(instruction.a), *b = warp.at<T>(instruction.b),
          *c = warp.at<T>(instruction.c);
  forLanes(warp.at<T>(instruction.result), mask, [=](unsigned i) __attribute__((always_inline)) {
    return out<ftz, sat>(std::fma(in<ftz>(a[i]), in<ftz>(b[i]), in<ftz>(c[i])));
  });
}
template <bool ftz, bool sat, class T>
void fmaPlain(Warp &warp, const Instruction &in, uint32_t mask) {
  fmaLanes<ftz, sat, T>(warp, in, mask);
}
#if defined(__x86_64__)
template <bool ftz, bool sat, class T>
__attribute__((target("avx2,fma"))) void fmaFast(Warp &warp, const Instruction &in, uint32_t mask) {
  fmaLanes<ftz, sat, T>(warp, in, mask);
}
#endif
template <bool ftz, bool sat, class T> Handler fmaHandler() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"))
    return fmaFast<ftz, sat, T>;
#endif
  return fmaPlain<ftz, sat, T>;
}

/// Rounding other than to nearest; Instruction::immediate says which.
struct Rounded {
  Operation operation;
  Rounding rounding;
  bool ftz, saturates;

  uint8_t encode() const {
    return uint8_t(unsigned(operation) << 4 | unsigned(rounding) << 2 | unsigned(ftz) << 1 |
                   unsigned(saturates));
  }
  static Rounded decode(uint8_t bits) {
    return {Operation(bits >> 4), Rounding(bits >> 2 & 3), bool(bits & 2), bool(bits & 1)};
  }
};
template <class T> void rounded(Warp &warp, const Instruction &instruction, uint32_t mask) {
  const T *a = warp.at<T>(instruction.a);
  const T *b = instruction.b ? warp.at<T>(instruction.b) : a;
  const T *c = instruction.c ? warp.at<T>(instruction.c) : a;
  Rounded how = Rounded::decode(instruction.immediate);
  forActiveLanes(warp.at<T>(instruction.result), mask, [=](unsigned i) {
    auto read = [&](T value) { return how.ftz ? flush(value) : value; };
    T value = compute(how.operation, how.rounding, read(a[i]), read(b[i]), read(c[i]));
    if (how.saturates)
      return how.ftz ? out<true, true>(value) : out<false, true>(value);
    return how.ftz ? out<true, false>(value) : value;
  });
}

bool isFlagged(Decoder &decoder, Type type, const char *flag) {
  bool there = decoder.modifiers.take(flag);
  if (there && type.bits != 32)
    decoder.unsupported();
  return there;
}

/// `pick.operator()<ftz, sat>()`.
template <class Pick> Handler forFlags(bool ftz, bool sat, Pick pick) {
  if (ftz)
    return sat ? pick.template operator()<true, true>() : pick.template operator()<true, false>();
  return sat ? pick.template operator()<false, true>() : pick.template operator()<false, false>();
}

void setClass(Decoder &decoder, Type type, bool special = false) {
  decoder.in.counted = special           ? InstructionClass::Special
                       : type.bits == 64 ? InstructionClass::Double
                                         : InstructionClass::Float;
}

bool decodeArithmetic(Decoder &decoder, Type type) {
  std::string_view opcode = decoder.opcode();
  Rounding rounding = decoder.modifiers.takeRounding().value_or(Rounding::Nearest);
  bool ftz = isFlagged(decoder, type, "ftz"), sat = isFlagged(decoder, type, "sat");
  bool fused = opcode == "fma" || opcode == "mad";
  sameOperands(decoder, type, fused ? 3 : 2);
  setClass(decoder, type);
  if (rounding != Rounding::Nearest) {
    Operation operation = fused             ? Operation::MultiplyAdd
                          : opcode == "mul" ? Operation::Multiply
                                            : Operation::Add;
    if (opcode == "sub")
      decoder.unsupported();
    decoder.in.immediate = Rounded{operation, rounding, ftz, sat}.encode();
    decoder.in.handler = forFloat(decoder, type, []<class T>() -> Handler { return rounded<T>; });
    return true;
  }
  decoder.in.handler = forFlags(ftz, sat, [&]<bool f, bool s>() -> Handler {
    return forFloat(decoder, type, [&]<class T>() -> Handler {
      return fused             ? fmaHandler<f, s, T>()
             : opcode == "add" ? pointwise<add<f, s, T>, T, T, T>
             : opcode == "sub" ? pointwise<sub<f, s, T>, T, T, T>
                               : pointwise<mul<f, s, T>, T, T, T>;
    });
  });
  return true;
}

/// div, rcp, sqrt, rsqrt.
bool decodeDivision(Decoder &decoder, Type type) {
  std::string_view opcode = decoder.opcode();
  std::optional<Rounding> rounding = decoder.modifiers.takeRounding();
  bool approximate = decoder.modifiers.takeAny({"approx", "full"}) >= 0;
  if (!approximate && !rounding)
    decoder.unsupported("its rounding is missing");
  bool isDivision = opcode == "div";
  if (approximate && type.bits == 64) {
    bool flushes = decoder.modifiers.take("ftz");
    if (opcode != "rsqrt" && !(opcode == "rcp" && flushes))
      decoder.unsupported();
    sameOperands(decoder, type, 1);
    setClass(decoder, type, true);
    decoder.in.handler = opcode == "rcp" ? pointwise<reciprocalUpper, double, double>
                                         : pointwise<reciprocalRootUpper, double, double>;
    return true;
  }
  bool ftz = isFlagged(decoder, type, "ftz");
  sameOperands(decoder, type, isDivision ? 2 : 1);
  setClass(decoder, type, true);
  if (rounding && *rounding != Rounding::Nearest) {
    if (opcode == "rsqrt")
      decoder.unsupported();
    if (opcode == "rcp") { // 1 / a
      decoder.in.b = decoder.in.a;
      uint64_t one = type.bits == 64 ? std::bit_cast<uint64_t>(1.0) : std::bit_cast<uint32_t>(1.0f);
      decoder.in.a = decoder.constant(one, type.bytes());
    }
    Operation operation = opcode == "sqrt" ? Operation::SquareRoot : Operation::Divide;
    decoder.in.immediate = Rounded{operation, *rounding, ftz, false}.encode();
    decoder.in.handler = forFloat(decoder, type, []<class T>() -> Handler { return rounded<T>; });
    return true;
  }
  decoder.in.handler = forFlags(ftz, false, [&]<bool f, bool s>() -> Handler {
    return forFloat(decoder, type, [&]<class T>() -> Handler {
      return isDivision         ? pointwise<divide<f, false, T>, T, T, T>
             : opcode == "rcp"  ? pointwise<reciprocal<f, false, T>, T, T>
             : opcode == "sqrt" ? pointwise<squareRoot<f, false, T>, T, T>
                                : pointwise<reciprocalRoot<f, false, T>, T, T>;
    });
  });
  return true;
}

/// ex2, lg2, sin, cos, tanh.
bool decodeElementary(Decoder &decoder, Type type) {
  std::string_view opcode = decoder.opcode();
  if (!decoder.modifiers.take("approx") || type.bits != 32)
    decoder.unsupported();
  bool ftz = decoder.modifiers.take("ftz");
  sameOperands(decoder, type, 1);
  setClass(decoder, type, true);
  decoder.in.handler = forFlags(ftz, false, [&]<bool f, bool s>() -> Handler {
    return opcode == "ex2"   ? pointwise<exp2Approx<f, false>, float, float>
           : opcode == "lg2" ? pointwise<log2Approx<f, false>, float, float>
           : opcode == "sin" ? pointwise<sinApprox<f, false>, float, float>
           : opcode == "cos" ? pointwise<cosApprox<f, false>, float, float>
                             : pointwise<tanhApprox<f, false>, float, float>;
  });
  return true;
}

bool decodeExtremum(Decoder &decoder, Type type) {
  bool isMax = decoder.opcode() == "max";
  bool ftz = isFlagged(decoder, type, "ftz"), nan = isFlagged(decoder, type, "NaN");
  sameOperands(decoder, type, 2);
  setClass(decoder, type);
  decoder.in.handler = forFlags(ftz, nan, [&]<bool f, bool n>() -> Handler {
    return forFloat(decoder, type, [&]<class T>() -> Handler {
      return isMax ? pointwise<extremum<f, n, true, T>, T, T, T>
                   : pointwise<extremum<f, n, false, T>, T, T, T>;
    });
  });
  return true;
}

bool decodeSign(Decoder &decoder, Type type) {
  bool ftz = isFlagged(decoder, type, "ftz");
  std::string_view opcode = decoder.opcode();
  sameOperands(decoder, type, opcode == "copysign" ? 2 : 1);
  setClass(decoder, type);
  decoder.in.handler = forFlags(ftz, false, [&]<bool f, bool s>() -> Handler {
    return forFloat(decoder, type, [&]<class T>() -> Handler {
      return opcode == "abs"   ? pointwise<absolute<f, s, T>, T, T>
             : opcode == "neg" ? pointwise<negate<f, s, T>, T, T>
                               : pointwise<copySign<T>, T, T, T>;
    });
  });
  return true;
}

} // namespace

bool decodeFloat(Decoder &decoder) {
  static constexpr struct {
    std::string_view opcode;
    bool (*decode)(Decoder &, Type);
  } rows[] = {{"add", decodeArithmetic}, {"sub", decodeArithmetic},  {"mul", decodeArithmetic},
              {"fma", decodeArithmetic}, {"mad", decodeArithmetic},  {"div", decodeDivision},
              {"rcp", decodeDivision},   {"sqrt", decodeDivision},   {"rsqrt", decodeDivision},
              {"ex2", decodeElementary}, {"lg2", decodeElementary},  {"sin", decodeElementary},
              {"cos", decodeElementary}, {"tanh", decodeElementary}, {"min", decodeExtremum},
              {"max", decodeExtremum},   {"abs", decodeSign},        {"neg", decodeSign},
              {"copysign", decodeSign}};
  std::optional<Type> type = Modifiers(decoder.source().modifiers).takeType();
  if (!type || !type->isFloat() || type->bits < 32)
    return false;
  auto *row = std::ranges::find(rows, decoder.opcode(), [](const auto &r) { return r.opcode; });
  if (row == std::end(rows))
    return false;
  decoder.modifiers.takeType();
  return row->decode(decoder, *type);
}

} // namespace accc::ptx
