// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors as other element types.
#include "accc/tensor.h"
#include "data/HalfFloats.h"

namespace accc {

namespace {

/// The value of an element of 16 bits, which C++ has no type for.
struct Half {
  uint16_t bits;
  explicit operator double() const { return detail::fromHalf(bits); }
  static Half of(double value) { return {detail::toHalf(static_cast<float>(value))}; }
};
struct BrainFloat {
  uint16_t bits;
  explicit operator double() const { return detail::fromBrainFloat(bits); }
  static BrainFloat of(double value) { return {detail::toBrainFloat(static_cast<float>(value))}; }
};

template <typename T> struct Element {
  static T of(double value) { return static_cast<T>(value); }
};
template <> struct Element<Half> : Half {};
template <> struct Element<BrainFloat> : BrainFloat {};

template <typename From, typename To> void convert(const void *from, void *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    static_cast<To *>(to)[i] =
        Element<To>::of(static_cast<double>(static_cast<const From *>(from)[i]));
}

/// Calls `use` with a pointer to an element of the type, a null pointer.
template <typename Use> void withFloats(DType type, Use use) {
  switch (type) {
  case DType::f32:
    return use(static_cast<float *>(nullptr));
  case DType::f64:
    return use(static_cast<double *>(nullptr));
  case DType::f16:
    return use(static_cast<Half *>(nullptr));
  case DType::bf16:
    return use(static_cast<BrainFloat *>(nullptr));
  default:
    return;
  }
}
template <typename Use> void withElements(DType type, Use use) {
  switch (type) {
  case DType::f32:
  case DType::f64:
  case DType::f16:
  case DType::bf16:
    return withFloats(type, use);
  case DType::boolean:
    return use(static_cast<bool *>(nullptr));
  case DType::i8:
    return use(static_cast<int8_t *>(nullptr));
  case DType::i16:
    return use(static_cast<int16_t *>(nullptr));
  case DType::i32:
    return use(static_cast<int32_t *>(nullptr));
  case DType::i64:
    return use(static_cast<int64_t *>(nullptr));
  case DType::u8:
    return use(static_cast<uint8_t *>(nullptr));
  case DType::u16:
    return use(static_cast<uint16_t *>(nullptr));
  case DType::u32:
    return use(static_cast<uint32_t *>(nullptr));
  case DType::u64:
    return use(static_cast<uint64_t *>(nullptr));
  }
}

bool isFloat(DType type) {
  return type == DType::f32 || type == DType::f64 || type == DType::f16 || type == DType::bf16;
}

} // namespace

Tensor Tensor::to(DType type) const {
  if (type == type_)
    return *this;
  if (!isFloat(type))
    throw Error(ErrorKind::usage, "a tensor " + to_string(type_, shape_) +
                                      " cannot be converted to " + std::string(to_string(type)) +
                                      ": only to a float type");
  Tensor result(type, shape_);
  withElements(type_, [&]<typename From>(From *) {
    withFloats(type, [&]<typename To>(To *) { convert<From, To>(raw(), result.raw(), size_); });
  });
  return result;
}

} // namespace accc
