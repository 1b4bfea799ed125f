// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Batches.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace accc;

template <typename T> static void fillFloats(std::span<T> values, int number) {
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = T(0.9 * std::sin(1.7 * double(i) + number));
}

static bool isIndex(const accc_value &input) { return input.indices != nullptr; }

/// Numbers that an input takes, whatever it is for.
static Tensor made(const accc_value &input, int number) {
  auto shape = shape_of(input.tensor);
  Tensor result(static_cast<DType>(input.tensor.dtype), Shape(shape.begin(), shape.end()));
  if (result.dtype() == DType::f32)
    fillFloats(result.data<float>(), number);
  else if (result.dtype() == DType::f64)
    fillFloats(result.data<double>(), number);
  else // 0 and 1, lowest byte first
    for (int64_t i = 0; i < result.size(); ++i)
      static_cast<char *>(result.raw())[size_t(i) * size_of(result.dtype())] =
          char((i + number) % 2);
  return result;
}

template <typename T> static void scale(std::span<T> values, int number) {
  for (T &value : values)
    value *= T(1 - number / 16.0);
}

/// The tensor of that number made of the first one.
static Tensor varied(const accc_value &input, Tensor tensor, int number) {
  if (tensor.dtype() == DType::f32)
    scale(tensor.data<float>(), number);
  else if (tensor.dtype() == DType::f64)
    scale(tensor.data<double>(), number);
  else if (input.usage == ACCC_TARGET && isIndex(input) && tensor.size() > 0) {
    auto *bytes = static_cast<char *>(tensor.raw());
    size_t by = size_t(number % tensor.size()) * size_of(tensor.dtype());
    std::rotate(bytes, bytes + by, bytes + tensor.size_bytes());
  }
  return tensor;
}

/// The first rows of `tensor`, if these are what an input is to be.
static bool takeRows(const Tensor &tensor, const accc_tensor &wanted, Tensor &rows) {
  auto shape = shape_of(wanted);
  if (tensor.dtype() != static_cast<DType>(wanted.dtype) || tensor.shape().size() != shape.size())
    return false;
  if (!std::equal(shape.begin(), shape.end(), tensor.shape().begin())) {
    if (shape[0] > tensor.dim(0) ||
        !std::equal(shape.begin() + 1, shape.end(), tensor.shape().begin() + 1))
      return false;
    rows = tensor.rows(0, shape[0]).clone();
    return true;
  }
  rows = tensor.clone();
  return true;
}

TensorMap batchFor(const accc_entry &entry, const TensorMap &given, int number) {
  TensorMap batch;
  for (const accc_value &input : std::span(entry.inputs, size_t(entry.num_inputs))) {
    if (input.usage != ACCC_DATA && input.usage != ACCC_TARGET)
      continue;
    auto found = given.find(input.tensor.name);
    Tensor rows;
    bool isThere = found != given.end() && takeRows(found->second, input.tensor, rows);
    batch.emplace(input.tensor.name, isThere ? varied(input, rows, number) : made(input, number));
  }
  return batch;
}

Tensor misaligned(const Tensor &tensor) {
  size_t offset = size_of(tensor.dtype());
  auto memory = std::make_shared<std::vector<char>>(tensor.size_bytes() + ACCC_ALIGNMENT + offset);
  auto address = reinterpret_cast<uintptr_t>(memory->data());
  char *data = memory->data() + (ACCC_ALIGNMENT - address % ACCC_ALIGNMENT) + offset;
  std::memcpy(data, tensor.raw(), tensor.size_bytes());
  static std::vector<std::shared_ptr<std::vector<char>>> kept; // a borrowed tensor owns nothing
  kept.push_back(memory);
  return Tensor::borrow(tensor.dtype(), tensor.shape(), data);
}

bool sameBits(const Tensor &a, const Tensor &b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.size() == 0 || std::memcmp(a.raw(), b.raw(), a.size_bytes()) == 0);
}

TensorMap variablesOf(Trainer &trainer) {
  TensorMap values;
  for (const accc_variable &variable : trainer.model().variables())
    values.emplace(variable.tensor.name, trainer.parameter(variable.tensor.name).clone());
  return values;
}
