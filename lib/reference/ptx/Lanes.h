// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Handlers from functions of one lane's values.
#ifndef ACCC_REFERENCE_PTX_LANES_H
#define ACCC_REFERENCE_PTX_LANES_H

#include "reference/ptx/Decoder.h"
#include "reference/ptx/Warp.h"

#include <type_traits>

namespace accc::ptx {

// Iterations are independent: lanes read and write only their own values.
#if defined(__clang__)
#define ACCC_PTX_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define ACCC_PTX_LANES _Pragma("GCC ivdep")
#endif

/// result[lane] = body(lane) for the lanes of `mask`. Other lanes may be evaluated, too: `body`
/// must not fail.
template <class T, class Body>
[[gnu::always_inline]] inline void forLanes(T *result, uint32_t mask, Body body) {
  if (mask == ~0u) {
    ACCC_PTX_LANES
    for (unsigned lane = 0; lane < warpSize; ++lane)
      result[lane] = body(lane);
    return;
  }
  T values[warpSize];
  ACCC_PTX_LANES
  for (unsigned lane = 0; lane < warpSize; ++lane)
    values[lane] = body(lane);
  for (; mask; mask &= mask - 1) {
    unsigned lane = unsigned(std::countr_zero(mask));
    result[lane] = values[lane];
  }
}

/// The same for a body that is costly: evaluated for the lanes of `mask` only.
template <class T, class Body>
[[gnu::always_inline]] inline void forActiveLanes(T *result, uint32_t mask, Body body) {
  for (; mask; mask &= mask - 1) {
    unsigned lane = unsigned(std::countr_zero(mask));
    result[lane] = body(lane);
  }
}

/// result = F(a), F(a, b), F(a, b, c) or F(a, b, c, d), by the number of operand types.
template <auto F, class R, class... A>
void pointwise(Warp &warp, const Instruction &in, uint32_t mask) {
  R *result = warp.at<R>(in.result);
  [&]<class A0, class... Rest>(std::type_identity<A0>, std::type_identity<Rest>...) {
    const A0 *a = warp.at<A0>(in.a);
    if constexpr (sizeof...(Rest) == 0) {
      forLanes(result, mask, [=](unsigned i) { return R(F(a[i])); });
    } else {
      [&]<class A1, class... More>(std::type_identity<A1>, std::type_identity<More>...) {
        const A1 *b = warp.at<A1>(in.b);
        if constexpr (sizeof...(More) == 0) {
          forLanes(result, mask, [=](unsigned i) { return R(F(a[i], b[i])); });
        } else {
          [&]<class A2, class... Last>(std::type_identity<A2>, std::type_identity<Last>...) {
            const A2 *c = warp.at<A2>(in.c);
            if constexpr (sizeof...(Last) == 0) {
              forLanes(result, mask, [=](unsigned i) { return R(F(a[i], b[i], c[i])); });
            } else {
              [&]<class A3>(std::type_identity<A3>) {
                const A3 *d = warp.at<A3>(in.d);
                forLanes(result, mask, [=](unsigned i) { return R(F(a[i], b[i], c[i], d[i])); });
              }(std::type_identity<Last>()...);
            }
          }(std::type_identity<More>()...);
        }
      }(std::type_identity<Rest>()...);
    }
  }(std::type_identity<A>()...);
}

/// `pick.operator()<T>()` for the C++ type of an integer type of 16, 32 or 64 bits; bits count as
/// unsigned.
template <class Pick> Handler forInteger(Decoder &decoder, Type type, Pick pick) {
  if (!type.isInteger())
    decoder.unsupported();
  switch (type.bits) {
  case 16:
    return type.isSigned() ? pick.template operator()<int16_t>()
                           : pick.template operator()<uint16_t>();
  case 32:
    return type.isSigned() ? pick.template operator()<int32_t>()
                           : pick.template operator()<uint32_t>();
  case 64:
    return type.isSigned() ? pick.template operator()<int64_t>()
                           : pick.template operator()<uint64_t>();
  default:
    decoder.unsupported();
  }
}

/// The same for f32 and f64.
template <class Pick> Handler forFloat(Decoder &decoder, Type type, Pick pick) {
  if (type == Type{TypeKind::Float, 32})
    return pick.template operator()<float>();
  if (type == Type{TypeKind::Float, 64})
    return pick.template operator()<double>();
  decoder.unsupported();
}

/// Sets the operands' slots of an instruction whose operands all have one type.
inline void sameOperands(Decoder &decoder, Type type, unsigned sources) {
  decoder.expectOperands(sources + 1);
  Instruction &in = decoder.in;
  uint32_t *slots[] = {&in.a, &in.b, &in.c, &in.d};
  for (unsigned i = 0; i < sources; ++i)
    *slots[i] = decoder.source(i + 1, type);
  in.result = decoder.result(0, type);
}

} // namespace accc::ptx

#endif
