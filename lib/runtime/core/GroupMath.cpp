// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GroupMath.h"

#include "accc/error.h"
#include "data/HalfFloats.h"

namespace accc::detail {

namespace {

/// An element type: what lies in memory, and what is computed with.
template <typename T> struct Plain {
  using Stored = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};
struct Half {
  using Stored = uint16_t;
  static float load(uint16_t value) { return fromHalf(value); }
  static uint16_t store(float value) { return toHalf(value); }
};
struct BrainFloat {
  using Stored = uint16_t;
  static float load(uint16_t value) { return fromBrainFloat(value); }
  static uint16_t store(float value) { return toBrainFloat(value); }
};

/// Calls function(Element()) with that of a type.
template <typename Function> void withElement(DType type, Function &&function) {
  switch (type) {
  case DType::f32:
    return function(Plain<float>());
  case DType::f64:
    return function(Plain<double>());
  case DType::f16:
    return function(Half());
  case DType::bf16:
    return function(BrainFloat());
  case DType::i64:
    return function(Plain<int64_t>());
  default:
    throw Error(ErrorKind::bug, "a group does not add up " + std::string(to_string(type)));
  }
}

} // namespace

void scale(void *to, const void *from, size_t count, DType type, double factor) {
  withElement(type, [&]<typename Element>(Element) {
    using Stored = typename Element::Stored;
    const auto *in = static_cast<const Stored *>(from);
    auto *out = static_cast<Stored *>(to);
    const auto by = static_cast<decltype(Element::load(*in))>(factor);
    for (size_t i = 0; i < count; ++i)
      out[i] = Element::store(Element::load(in[i]) * by);
  });
}

void add(void *sum, const void *value, size_t count, DType type) {
  withElement(type, [&]<typename Element>(Element) {
    using Stored = typename Element::Stored;
    const auto *in = static_cast<const Stored *>(value);
    auto *out = static_cast<Stored *>(sum);
    for (size_t i = 0; i < count; ++i)
      out[i] = Element::store(Element::load(out[i]) + Element::load(in[i]));
  });
}

} // namespace accc::detail
