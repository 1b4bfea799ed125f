// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atom and red. The lanes of a warp go in ascending order.
#include "reference/ptx/Lanes.h"
#include "reference/ptx/Touch.h"

#include <algorithm>
#include <cstring>

namespace accc::ptx {

namespace {

template <auto F, class T> void atomic(Warp &warp, const Instruction &in, uint32_t mask) {
  const Access &access = warp.block->launch.program.accesses[in.target];
  Addresses addresses = addressesOf(warp, access);
  const T *b = warp.at<T>(in.b), *c = in.c ? warp.at<T>(in.c) : b;
  T *result = warp.at<T>(in.result);
  countAccess(warp, access, mask, addresses);
  for (; mask; mask &= mask - 1) {
    unsigned lane = unsigned(std::countr_zero(mask));
    std::byte *data = touch(warp, access, in.target, lane, addresses.of[lane]);
    T before, value;
    std::memcpy(&before, data, sizeof(T));
    value = F(before, b[lane], c[lane]);
    std::memcpy(data, &value, sizeof(T));
    result[lane] = before;
  }
}

template <class T> T exchange(T, T b, T) { return b; }
template <class T> T compareAndSwap(T a, T b, T c) { return a == b ? c : a; }
template <class T> T plus(T a, T b, T) {
  return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
}
template <class T> T minimum(T a, T b, T) { return std::min(a, b); }
template <class T> T maximum(T a, T b, T) { return std::max(a, b); }
template <class T> T bitAnd(T a, T b, T) { return T(a & b); }
template <class T> T bitOr(T a, T b, T) { return T(a | b); }
template <class T> T bitXor(T a, T b, T) { return T(a ^ b); }
uint32_t increment(uint32_t a, uint32_t b, uint32_t) { return a >= b ? 0 : a + 1; }
uint32_t decrement(uint32_t a, uint32_t b, uint32_t) { return a == 0 || a > b ? b : a - 1; }

float plusFlushed(float a, float b, float) { return canonical(flush(flush(a) + flush(b))); }
float plusFloat(float a, float b, float) { return canonical(a + b); }
double plusDouble(double a, double b, double) { return canonical(a + b); }
uint16_t plusHalf(uint16_t a, uint16_t b, uint16_t) {
  return toHalf(double(fromHalf(a)) + fromHalf(b));
}
uint16_t plusBFloat(uint16_t a, uint16_t b, uint16_t) {
  return toBFloat(fmaToOdd(fromBFloat(a), 1, fromBFloat(b)));
}
template <auto F> uint32_t onHalves(uint32_t a, uint32_t b, uint32_t) {
  return F(uint16_t(a), uint16_t(b), 0) | uint32_t(F(uint16_t(a >> 16), uint16_t(b >> 16), 0))
                                              << 16;
}

/// Floating-point addition; null for other types.
Handler addition(Type type, Space space) {
  switch (type.kind) {
  case TypeKind::Float:
    if (type.bits == 16)
      return atomic<plusHalf, uint16_t>;
    if (type.bits == 64)
      return atomic<plusDouble, double>;
    // Global memory flushes subnormals, shared memory does not.
    return space == Space::Shared ? atomic<plusFloat, float> : atomic<plusFlushed, float>;
  case TypeKind::BFloat:
    return atomic<plusBFloat, uint16_t>;
  case TypeKind::HalfPair:
    return atomic<onHalves<plusHalf>, uint32_t>;
  case TypeKind::BHalfPair:
    return atomic<onHalves<plusBFloat>, uint32_t>;
  default:
    return nullptr;
  }
}

enum Op { And, Or, Xor, Exch, Cas, Add, Inc, Dec, Min, Max };

template <class T> Handler integerHandler(Op op) {
  switch (op) {
  case And:
    return atomic<bitAnd<T>, T>;
  case Or:
    return atomic<bitOr<T>, T>;
  case Xor:
    return atomic<bitXor<T>, T>;
  case Exch:
    return atomic<exchange<T>, T>;
  case Cas:
    return atomic<compareAndSwap<T>, T>;
  case Add:
    return atomic<plus<T>, T>;
  case Min:
    return atomic<minimum<T>, T>;
  case Max:
    return atomic<maximum<T>, T>;
  default:
    return nullptr;
  }
}

Handler handlerFor(Decoder &decoder, Op op, Type type, Space space) {
  if (op == Add && !type.isInteger())
    if (Handler handler = addition(type, space))
      return handler;
  if (op == Inc || op == Dec) {
    if (type.bits != 32)
      decoder.unsupported();
    return op == Inc ? atomic<increment, uint32_t> : atomic<decrement, uint32_t>;
  }
  if (type.bits == 16 && op != Cas && op != Exch)
    decoder.unsupported();
  return forInteger(decoder, type, [&]<class T>() { return integerHandler<T>(op); });
}

} // namespace

bool decodeAtomic(Decoder &decoder) {
  bool hasResult = decoder.opcode() == "atom";
  if (!hasResult && decoder.opcode() != "red")
    return false;
  Modifiers &modifiers = decoder.modifiers;
  Access access;
  access.write = access.atomic = true;
  bool both = modifiers.take("acq_rel");
  access.acquire = modifiers.take("acquire") || both;
  access.release = modifiers.take("release") || both;
  modifiers.take("relaxed");
  modifiers.takeAny({"cta", "cluster", "gpu", "sys"});
  access.space = modifiers.takeSpace().value_or(Space::Generic);
  int op =
      modifiers.takeAny({"and", "or", "xor", "exch", "cas", "add", "inc", "dec", "min", "max"});
  modifiers.take("noftz");
  if (op < 0 || access.space == Space::Local || access.space == Space::Const)
    decoder.unsupported();
  Type type = decoder.type();
  access.elementBytes = uint8_t(type.bytes());
  size_t at = hasResult ? 1 : 0;
  decoder.expectOperands(at + (op == Cas ? 3 : 2));
  decoder.address(decoder.operand(at), access);
  decoder.in.b = decoder.source(at + 1, type);
  if (op == Cas)
    decoder.in.c = decoder.source(at + 2, type);
  decoder.in.result = hasResult ? decoder.result(0, type) : decoder.scratch(type.bytes());
  decoder.in.counted = InstructionClass::Atomic;
  decoder.in.target = decoder.addAccess(access);
  decoder.in.handler = handlerFor(decoder, Op(op), type, access.space);
  return true;
}

} // namespace accc::ptx
