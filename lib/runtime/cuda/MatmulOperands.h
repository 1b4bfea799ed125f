// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the operands of a product of matrices lie in memory.
#ifndef ACCC_RUNTIME_CUDA_MATMULOPERANDS_H
#define ACCC_RUNTIME_CUDA_MATMULOPERANDS_H

#include "accc/abi.h"

#include <cstdint>
#include <span>
#include <vector>

namespace accc::detail {

/// rows x columns elements, (i, j) at i * rowStride + j * columnStride.
struct Matrix {
  int64_t rows, columns, rowStride, columnStride;

  Matrix transposed() const { return {columns, rows, columnStride, rowStride}; }
  /// Whether its columns are contiguous, as cuBLASLt has matrices.
  bool byColumns() const {
    return (rowStride == 1 || rows == 1) && (columns == 1 || columnStride >= rows);
  }
  bool byRows() const { return transposed().byColumns(); }
};

struct Operands {
  Matrix a, b, c;
};

Operands operandsOf(const accc_matmul &call);

/// Extent and strides in elements of one dimension of the batch.
struct BatchDim {
  int64_t extent, a, b, c;
};

/// The dimensions of the batch, those that lie as one taken together.
std::vector<BatchDim> batchOf(const accc_matmul &call);

/// Whether the result has no element.
bool hasNothing(const accc_matmul &call);

/// Whether there is nothing to multiply: the library is not asked.
bool isTrivial(const accc_matmul &call);

/// Bytes of the buffer of an operand (0 to 2), to the end of its last element, of all products.
uint64_t bytesOf(const accc_library_call &call, int operand);

/// Offsets in bytes of the operands of one product.
struct Offsets {
  uint64_t a, b, c;
};

/// Of every combination of indices of `dims`.
std::vector<Offsets> offsetsOf(std::span<const BatchDim> dims, const accc_library_call &call);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_MATMULOPERANDS_H
