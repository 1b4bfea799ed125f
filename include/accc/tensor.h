// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types and dense row-major tensors: what goes in and out of a compiled
// model.
#ifndef ACCC_TENSOR_H
#define ACCC_TENSOR_H

#include "accc/abi.h"
#include "accc/error.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace accc {

enum class DType : int32_t {
  f32 = ACCC_F32,
  f64 = ACCC_F64,
  f16 = ACCC_F16,
  bf16 = ACCC_BF16,
  boolean = ACCC_BOOL,
  i8 = ACCC_I8,
  i16 = ACCC_I16,
  i32 = ACCC_I32,
  i64 = ACCC_I64,
  u8 = ACCC_U8,
  u16 = ACCC_U16,
  u32 = ACCC_U32,
  u64 = ACCC_U64
};

/// Bytes of one element.
size_t size_of(DType type);
/// Its name in accc's messages and MLIR: "f32", "bf16", "bool", "i64", ...
std::string_view to_string(DType type);
/// Its name in safetensors files: "F32", "BF16", "BOOL", "I64", ...
std::string_view safetensors_name(DType type);
/// The type of a safetensors name; nothing for the types accc has no tensors of (F8_E4M3, ...).
std::optional<DType> dtype_of_safetensors_name(std::string_view name);
/// The type of an accc_dtype; nothing where the number is none.
std::optional<DType> dtype_of(int32_t abi_dtype);

using Shape = std::vector<int64_t>;

/// "f32[2, 3]"; a scalar is "f32[]".
std::string to_string(DType type, std::span<const int64_t> shape);

/// The element type of C++ type T (bool is one byte; f16 and bf16 have none).
template <typename T> constexpr DType dtype_for();
template <> constexpr DType dtype_for<float>() { return DType::f32; }
template <> constexpr DType dtype_for<double>() { return DType::f64; }
template <> constexpr DType dtype_for<bool>() { return DType::boolean; }
template <> constexpr DType dtype_for<int8_t>() { return DType::i8; }
template <> constexpr DType dtype_for<int16_t>() { return DType::i16; }
template <> constexpr DType dtype_for<int32_t>() { return DType::i32; }
template <> constexpr DType dtype_for<int64_t>() { return DType::i64; }
template <> constexpr DType dtype_for<uint8_t>() { return DType::u8; }
template <> constexpr DType dtype_for<uint16_t>() { return DType::u16; }
template <> constexpr DType dtype_for<uint32_t>() { return DType::u32; }
template <> constexpr DType dtype_for<uint64_t>() { return DType::u64; }

/// A dense row-major tensor. Copies share the storage; clone() makes a new one.
/// Storage that a Tensor owns is aligned to ACCC_ALIGNMENT; borrowed storage may have any
/// alignment of its element type (the runtime copies inputs that are not aligned enough).
class Tensor {
public:
  /// f32[0]
  Tensor();
  /// Owns new storage, filled with zeros. Throws Error (usage) on a negative extent or a size
  /// that does not fit the address space.
  Tensor(DType type, Shape shape);

  /// Refers to `data`, which must outlive every copy of the tensor.
  static Tensor borrow(DType type, Shape shape, void *data);
  /// Owns a copy of `values`, whose number must be that of the shape.
  template <typename T> static Tensor of(Shape shape, std::span<const T> values) {
    Tensor result(dtype_for<T>(), std::move(shape));
    result.assign(values.data(), values.size_bytes());
    return result;
  }
  template <typename T> static Tensor of(Shape shape, std::initializer_list<T> values) {
    return of<T>(std::move(shape), std::span<const T>(values.begin(), values.size()));
  }
  template <typename T> static Tensor scalar(T value) { return of<T>({}, {value}); }

  DType dtype() const { return type_; }
  const Shape &shape() const { return shape_; }
  int64_t rank() const { return static_cast<int64_t>(shape_.size()); }
  /// Extent of one dimension; negative counts from the end.
  int64_t dim(int64_t index) const;
  /// Number of elements.
  int64_t size() const { return size_; }
  size_t size_bytes() const { return static_cast<size_t>(size_) * size_of(type_); }

  const void *raw() const { return data_.get(); }
  void *raw() { return data_.get(); }

  /// The elements. Throws Error (usage) where T is not the element type.
  template <typename T> std::span<T> data() {
    require(dtype_for<T>());
    return {static_cast<T *>(data_.get()), static_cast<size_t>(size_)};
  }
  template <typename T> std::span<const T> data() const {
    require(dtype_for<T>());
    return {static_cast<const T *>(data_.get()), static_cast<size_t>(size_)};
  }
  /// The only element of a tensor that has one.
  template <typename T> T item() const {
    require_single();
    return data<T>()[0];
  }

  /// The same storage under another shape of as many elements.
  Tensor reshape(Shape shape) const;
  /// The rows [begin, end) of the first dimension, sharing the storage.
  Tensor rows(int64_t begin, int64_t end) const;
  Tensor clone() const;
  /// The elements as another float type, rounded to nearest even (from f64 to 16 bits by way of
  /// f32): what a model in 16-bit floats takes and gives. A tensor of that type is itself. Throws
  /// Error (usage) for other types.
  Tensor to(DType type) const;

private:
  void require(DType wanted) const;
  void require_single() const;
  void assign(const void *values, size_t bytes);

  DType type_;
  Shape shape_;
  int64_t size_;
  std::shared_ptr<void> data_;
};

/// Tensors by name: a batch, a set of parameters, gradients. Look-ups by string_view do not
/// allocate.
using TensorMap = std::map<std::string, Tensor, std::less<>>;

} // namespace accc

#endif // ACCC_TENSOR_H
