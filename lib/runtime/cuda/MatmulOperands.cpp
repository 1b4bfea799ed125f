// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatmulOperands.h"

#include "accc/tensor.h"

#include <utility>

using namespace accc;
using namespace accc::detail;

Operands accc::detail::operandsOf(const accc_matmul &call) {
  return {{call.m, call.k, call.a_row_stride, call.a_column_stride},
          {call.k, call.n, call.b_row_stride, call.b_column_stride},
          {call.m, call.n, call.c_row_stride, call.c_column_stride}};
}

std::vector<BatchDim> accc::detail::batchOf(const accc_matmul &call) {
  std::vector<BatchDim> dims;
  for (int32_t i = 0; i < call.batch_rank; ++i) {
    BatchDim dim{call.batch[i], call.a_batch_strides[i], call.b_batch_strides[i],
                 call.c_batch_strides[i]};
    if (dim.extent == 1)
      continue;
    auto continues = [&](int64_t outer, int64_t inner) { return outer == inner * dim.extent; };
    if (!dims.empty() && continues(dims.back().a, dim.a) && continues(dims.back().b, dim.b) &&
        continues(dims.back().c, dim.c)) {
      dim.extent *= dims.back().extent;
      dims.back() = dim;
    } else {
      dims.push_back(dim);
    }
  }
  return dims;
}

bool accc::detail::hasNothing(const accc_matmul &call) {
  bool empty = call.m == 0 || call.n == 0;
  for (int32_t i = 0; i < call.batch_rank; ++i)
    empty |= call.batch[i] == 0;
  return empty;
}

bool accc::detail::isTrivial(const accc_matmul &call) { return hasNothing(call) || call.k == 0; }

uint64_t accc::detail::bytesOf(const accc_library_call &call, int operand) {
  const accc_matmul &product = call.u.matmul;
  Operands all = operandsOf(product);
  const Matrix &matrix = operand == 0 ? all.a : operand == 1 ? all.b : all.c;
  const int64_t *strides = operand == 0   ? product.a_batch_strides
                           : operand == 1 ? product.b_batch_strides
                                          : product.c_batch_strides;
  int64_t last = operand == 0 ? product.a_offset : operand == 1 ? product.b_offset : 0;
  last += (matrix.rows - 1) * matrix.rowStride + (matrix.columns - 1) * matrix.columnStride;
  for (int32_t i = 0; i < product.batch_rank; ++i)
    last += (product.batch[i] - 1) * strides[i];
  return uint64_t(last + 1) * size_of(static_cast<DType>(call.dtypes[operand]));
}

std::vector<Offsets> accc::detail::offsetsOf(std::span<const BatchDim> dims,
                                             const accc_library_call &call) {
  uint64_t size[3];
  for (int i = 0; i < 3; ++i)
    size[i] = size_of(static_cast<DType>(call.dtypes[i]));
  std::vector<Offsets> result{{static_cast<uint64_t>(call.u.matmul.a_offset) * size[0],
                               static_cast<uint64_t>(call.u.matmul.b_offset) * size[1], 0}};
  for (const BatchDim &dim : dims) {
    std::vector<Offsets> outer = std::move(result);
    result.clear();
    for (const Offsets &first : outer)
      for (int64_t i = 0; i < dim.extent; ++i)
        result.push_back({first.a + static_cast<uint64_t>(i * dim.a) * size[0],
                          first.b + static_cast<uint64_t>(i * dim.b) * size[1],
                          first.c + static_cast<uint64_t>(i * dim.c) * size[2]});
  }
  return result;
}
