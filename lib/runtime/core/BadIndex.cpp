// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BadIndex.h"

#include "accc/model.h"
#include "accc/tensor.h"

#include <cstring>
#include <optional>

namespace accc::detail {

namespace {

template <typename T> int64_t valueAt(const void *data, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + i * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return static_cast<int64_t>(value);
}

/// An element of an integer tensor; none of another.
std::optional<int64_t> elementAt(int32_t dtype, const void *data, int64_t i) {
  switch (dtype) {
  case ACCC_I8:
    return valueAt<int8_t>(data, i);
  case ACCC_I16:
    return valueAt<int16_t>(data, i);
  case ACCC_I32:
    return valueAt<int32_t>(data, i);
  case ACCC_I64:
    return valueAt<int64_t>(data, i);
  case ACCC_U8:
    return valueAt<uint8_t>(data, i);
  case ACCC_U16:
    return valueAt<uint16_t>(data, i);
  case ACCC_U32:
    return valueAt<uint32_t>(data, i);
  default:
    return std::nullopt;
  }
}

/// "[3,7]", of the element with this number; "" of a scalar.
std::string positionText(const accc_tensor &tensor, int64_t number) {
  std::string text;
  for (int32_t d = tensor.rank - 1; d >= 0; --d) {
    text = std::to_string(number % tensor.shape[d]) + (text.empty() ? "" : ",") + text;
    number /= tensor.shape[d];
  }
  return text.empty() ? "" : "[" + text + "]";
}

std::string boundsText(const accc_indices &bounds) {
  std::string text = std::string(bounds.what) + " are " +
                     std::to_string(bounds.first < 0 ? 0 : bounds.first) + " to " +
                     std::to_string(bounds.end - 1);
  if (bounds.first < 0)
    text += ", or " + std::to_string(bounds.first) + " to -1, counted from the end";
  if (bounds.has_ignored)
    text += ", and " + std::to_string(bounds.ignored) + " is ignored";
  return text;
}

} // namespace

std::string describeBadIndex(const accc_value &input, const void *data) {
  if (!input.indices)
    return "";
  const accc_indices &bounds = *input.indices;
  int64_t count = 1, bad = 0;
  for (int32_t d = 0; d < input.tensor.rank; ++d)
    count *= input.tensor.shape[d];
  std::string first;
  for (int64_t i = 0; i < count; ++i) {
    std::optional<int64_t> value = elementAt(input.tensor.dtype, data, i);
    if (!value)
      return "";
    if ((*value >= bounds.first && *value < bounds.end) ||
        (bounds.has_ignored && *value == bounds.ignored))
      continue;
    if (bad++ == 0)
      first = input.tensor.name + positionText(input.tensor, i) + " = " + std::to_string(*value);
  }
  if (bad > 1)
    first += " (and " + std::to_string(bad - 1) + " more)";
  return bad == 0 ? "" : first + ": " + boundsText(bounds);
}

} // namespace accc::detail
