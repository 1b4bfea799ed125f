// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "accc/tensor.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace accc {

namespace {

struct TypeRow {
  DType type;
  size_t size;
  std::string_view name;
  std::string_view safetensors;
};

// In the order of accc_dtype, whose values start at 1.
constexpr std::array<TypeRow, 13> types{{{DType::f32, 4, "f32", "F32"},
                                         {DType::f64, 8, "f64", "F64"},
                                         {DType::f16, 2, "f16", "F16"},
                                         {DType::bf16, 2, "bf16", "BF16"},
                                         {DType::boolean, 1, "bool", "BOOL"},
                                         {DType::i8, 1, "i8", "I8"},
                                         {DType::i16, 2, "i16", "I16"},
                                         {DType::i32, 4, "i32", "I32"},
                                         {DType::i64, 8, "i64", "I64"},
                                         {DType::u8, 1, "u8", "U8"},
                                         {DType::u16, 2, "u16", "U16"},
                                         {DType::u32, 4, "u32", "U32"},
                                         {DType::u64, 8, "u64", "U64"}}};

const TypeRow &row(DType type) { return types.at(static_cast<size_t>(type) - 1); }

int64_t elementCount(DType type, const Shape &shape) {
  int64_t count = 1;
  bool empty = false, tooLarge = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      throw Error(ErrorKind::usage, "a tensor of shape " + to_string(type, shape) +
                                        " cannot exist: an extent is negative");
    empty |= extent == 0;
    if (!empty)
      tooLarge |= __builtin_mul_overflow(count, extent, &count);
  }
  if (empty)
    return 0;
  int64_t bytes = 0;
  if (tooLarge || __builtin_mul_overflow(count, static_cast<int64_t>(size_of(type)), &bytes))
    throw Error(ErrorKind::usage,
                "a tensor of shape " + to_string(type, shape) + " does not fit the address space");
  return count;
}

std::shared_ptr<void> allocate(DType type, const Shape &shape, size_t bytes) {
  // Whole cache lines, so that a vector access to the last element stays inside.
  size_t rounded = (std::max<size_t>(bytes, 1) + ACCC_ALIGNMENT - 1) / ACCC_ALIGNMENT;
  void *data = std::aligned_alloc(ACCC_ALIGNMENT, rounded * ACCC_ALIGNMENT);
  if (!data)
    throw Error(ErrorKind::machine, "out of memory: a tensor " + to_string(type, shape) +
                                        " needs " + std::to_string(bytes) + " bytes");
  return {data, [](void *pointer) { std::free(pointer); }};
}

} // namespace

size_t size_of(DType type) { return row(type).size; }
std::string_view to_string(DType type) { return row(type).name; }
std::string_view safetensors_name(DType type) { return row(type).safetensors; }

std::optional<DType> dtype_of_safetensors_name(std::string_view name) {
  for (const TypeRow &candidate : types)
    if (candidate.safetensors == name)
      return candidate.type;
  return std::nullopt;
}

std::optional<DType> dtype_of(int32_t abiDtype) {
  if (abiDtype < 1 || abiDtype > static_cast<int32_t>(types.size()))
    return std::nullopt;
  return static_cast<DType>(abiDtype);
}

std::string to_string(DType type, std::span<const int64_t> shape) {
  std::string text(to_string(type));
  text += '[';
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + ']';
}

Tensor::Tensor() : type_(DType::f32), shape_{0}, size_(0) {}

Tensor::Tensor(DType type, Shape shape)
    : type_(type), shape_(std::move(shape)), size_(elementCount(type_, shape_)),
      data_(allocate(type_, shape_, size_bytes())) {
  std::memset(data_.get(), 0, size_bytes());
}

Tensor Tensor::borrow(DType type, Shape shape, void *data) {
  Tensor result;
  result.type_ = type;
  result.shape_ = std::move(shape);
  result.size_ = elementCount(type, result.shape_);
  result.data_ = std::shared_ptr<void>(data, [](void *) {});
  return result;
}

int64_t Tensor::dim(int64_t index) const {
  int64_t wrapped = index < 0 ? index + rank() : index;
  if (wrapped < 0 || wrapped >= rank())
    throw Error(ErrorKind::usage,
                to_string(type_, shape_) + " has no dimension " + std::to_string(index));
  return shape_[static_cast<size_t>(wrapped)];
}

Tensor Tensor::reshape(Shape shape) const {
  if (elementCount(type_, shape) != size_)
    throw Error(ErrorKind::usage, to_string(type_, shape_) + " cannot take the shape of " +
                                      to_string(type_, shape) + ": it has another size");
  Tensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

Tensor Tensor::rows(int64_t begin, int64_t end) const {
  if (rank() == 0 || begin < 0 || end < begin || end > shape_[0])
    throw Error(ErrorKind::usage, to_string(type_, shape_) + " has no rows [" +
                                      std::to_string(begin) + ", " + std::to_string(end) + ")");
  Tensor result = *this;
  result.shape_[0] = end - begin;
  size_t rowBytes = shape_[0] ? size_bytes() / static_cast<size_t>(shape_[0]) : 0;
  result.size_ = shape_[0] ? size_ / shape_[0] * (end - begin) : 0;
  char *first = static_cast<char *>(data_.get()) + rowBytes * static_cast<size_t>(begin);
  result.data_ = std::shared_ptr<void>(data_, first);
  return result;
}

Tensor Tensor::clone() const {
  Tensor result(type_, shape_);
  result.assign(raw(), size_bytes());
  return result;
}

void Tensor::require(DType wanted) const {
  if (type_ != wanted)
    throw Error(ErrorKind::usage, "a tensor " + to_string(type_, shape_) + " was read as " +
                                      std::string(to_string(wanted)));
}

void Tensor::require_single() const {
  if (size_ != 1)
    throw Error(ErrorKind::usage,
                "item() needs a tensor of one element, not " + to_string(type_, shape_));
}

void Tensor::assign(const void *values, size_t bytes) {
  if (bytes != size_bytes())
    throw Error(ErrorKind::usage, "a tensor " + to_string(type_, shape_) + " holds " +
                                      std::to_string(size_bytes()) + " bytes, not " +
                                      std::to_string(bytes));
  if (bytes)
    std::memcpy(data_.get(), values, bytes);
}

} // namespace accc
