// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "VariableOrder.h"

#include "accc/model.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace accc::detail {

std::span<const int64_t> orderOf(const accc_model_description &model, const accc_code &code,
                                 const accc_variable &variable) {
  const int64_t *order =
      code.variable_orders ? code.variable_orders[&variable - model.variables] : nullptr;
  return {order, order ? static_cast<size_t>(variable.tensor.rank) : 0};
}

bool isOrder(std::span<const int64_t> order) {
  std::vector<bool> named(order.size());
  for (int64_t d : order) {
    if (d < 0 || static_cast<size_t>(d) >= named.size() || named[static_cast<size_t>(d)])
      return false;
    named[static_cast<size_t>(d)] = true;
  }
  return true;
}

/// Calls body(place row-major, place in memory's order, count, step row-major) for rows of elements
/// that follow each other in memory.
template <typename Body>
static void forEachRow(std::span<const int64_t> shape, std::span<const int64_t> order, Body body) {
  std::vector<int64_t> strides(shape.size(), 1), index(shape.size(), 0);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  auto extent = [&](size_t i) { return shape[static_cast<size_t>(order[i])]; };
  auto stride = [&](size_t i) { return strides[static_cast<size_t>(order[i])]; };
  if (std::ranges::find(shape, 0) != shape.end())
    return;
  size_t last = order.size() - 1;
  int64_t rows = 1, place = 0;
  for (size_t i = 0; i < last; ++i)
    rows *= extent(i);
  for (int64_t row = 0; row < rows; ++row) {
    body(place, row * extent(last), extent(last), stride(last));
    for (size_t i = last; i-- > 0;) {
      place += stride(i);
      if (++index[i] < extent(i))
        break;
      place -= index[i] * stride(i);
      index[i] = 0;
    }
  }
}

template <typename Move>
static void copyRows(const accc_tensor &tensor, std::span<const int64_t> order, Move move) {
  auto size = static_cast<int64_t>(size_of(static_cast<DType>(tensor.dtype)));
  forEachRow(shape_of(tensor), order,
             [&](int64_t plain, int64_t laid, int64_t count, int64_t step) {
               for (int64_t i = 0; i < count; ++i)
                 move((plain + i * step) * size, (laid + i) * size, static_cast<size_t>(size));
             });
}

void toMemoryOrder(const accc_tensor &tensor, std::span<const int64_t> order, const void *from,
                   void *to) {
  copyRows(tensor, order, [&](int64_t plain, int64_t laid, size_t bytes) {
    std::memcpy(static_cast<char *>(to) + laid, static_cast<const char *>(from) + plain, bytes);
  });
}

void fromMemoryOrder(const accc_tensor &tensor, std::span<const int64_t> order, const void *from,
                     void *to) {
  copyRows(tensor, order, [&](int64_t plain, int64_t laid, size_t bytes) {
    std::memcpy(static_cast<char *>(to) + plain, static_cast<const char *>(from) + laid, bytes);
  });
}

} // namespace accc::detail
