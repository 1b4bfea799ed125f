// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batched f32 matrix products over row and column strides, as oneDNN's sgemm.
#include "LibraryCall.h"

#include "accc/error.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_debug.h>
#include <vector>

namespace accc::detail {

namespace {

/// A matrix as sgemm wants it: rows `lead` elements apart, read transposed or not.
struct Operand {
  bool transposed;
  int64_t lead;
};

/// How sgemm can read a matrix of these strides, or nothing where it cannot (overlapping rows, both
/// strides above 1). A stride along an extent of 1 does not matter.
std::optional<Operand> asOperand(int64_t rows, int64_t columns, int64_t rowStride,
                                 int64_t columnStride) {
  if ((columnStride == 1 || columns == 1) && (rowStride >= columns || rows == 1))
    return Operand{false, rows == 1 ? columns : rowStride};
  if ((rowStride == 1 || rows == 1) && (columnStride >= rows || columns == 1))
    return Operand{true, columns == 1 ? rows : columnStride};
  return std::nullopt;
}

/// The batch's dimensions as loops: extent, and the strides of a, b and c.
struct BatchDim {
  int64_t extent, a, b, c;
};

class Matmul : public LibraryCall {
public:
  Matmul(const accc_matmul &call, const Team &team) : call(call), team(team) {
    for (int32_t i = 0; i < call.batch_rank; ++i)
      if (call.batch[i] != 1)
        batch.push_back({call.batch[i], call.a_batch_strides[i], call.b_batch_strides[i],
                         call.c_batch_strides[i]});
    foldBatch();
    for (const BatchDim &dim : batch)
      batches *= dim.extent;
    plan();
  }

  void run(char *const *buffers, char *) override {
    const float *a = reinterpret_cast<const float *>(buffers[0]);
    const float *b = reinterpret_cast<const float *>(buffers[1]);
    float *c = reinterpret_cast<float *>(buffers[2]);
    const accc_matmul &p = call;
    if (p.m == 0 || p.n == 0 || batches == 0)
      return;
    // Where there are matrices enough, every thread does whole ones: sgemm inside a parallel region
    // keeps to one thread, and nobody waits for anybody. Else all threads share each product.
    if (batches >= team.threads() && batches > 1)
      return runBatchParallel(a, b, c);
    for (int64_t i = 0; i < batches; ++i)
      one(a, b, c, i);
  }

private:
  /// A batch dimension over which one operand stands still, and the others go on where their rows
  /// (or columns) end, is more rows of one larger product.
  void foldBatch() {
    while (!batch.empty()) {
      const BatchDim &dim = batch.back();
      bool rows =
          dim.b == 0 && dim.a == call.m * call.a_row_stride && dim.c == call.m * call.c_row_stride;
      bool columns = dim.a == 0 && dim.b == call.n * call.b_column_stride &&
                     dim.c == call.n * call.c_column_stride;
      if (!rows && !columns)
        return;
      (rows ? call.m : call.n) *= dim.extent;
      batch.pop_back();
    }
  }

  void plan() {
    // A result that lies in columns is the transposed product: C' = B' A'.
    if (!asOperandOfResult(call.m, call.n, call.c_row_stride, call.c_column_stride)) {
      std::swap(call.m, call.n);
      std::swap(call.c_row_stride, call.c_column_stride);
      std::swap(call.a_row_stride, call.b_column_stride);
      std::swap(call.a_column_stride, call.b_row_stride);
      swapped = true;
    }
    left = asOperand(call.m, call.k, call.a_row_stride, call.a_column_stride);
    right = asOperand(call.k, call.n, call.b_row_stride, call.b_column_stride);
    result = asOperandOfResult(call.m, call.n, call.c_row_stride, call.c_column_stride);
  }

  static std::optional<Operand> asOperandOfResult(int64_t rows, int64_t columns, int64_t rowStride,
                                                  int64_t columnStride) {
    auto operand = asOperand(rows, columns, rowStride, columnStride);
    return operand && !operand->transposed ? operand : std::nullopt;
  }

  void runBatchParallel(const float *a, const float *b, float *c) {
    std::atomic<bool> failed{false};
    team.run([&](int thread, int threads) {
      auto [begin, end] = share(batches, thread, threads);
      try {
        for (int64_t i = begin; i < end; ++i)
          one(a, b, c, i);
      } catch (const Error &) { // may not leave the thread
        failed = true;
      }
    });
    if (failed)
      throw Error(ErrorKind::machine, "oneDNN refused a matrix product");
  }

  void one(const float *a, const float *b, float *c, int64_t index) const {
    for (size_t d = batch.size(); d-- > 0;) {
      int64_t i = index % batch[d].extent;
      index /= batch[d].extent;
      a += i * batch[d].a;
      b += i * batch[d].b;
      c += i * batch[d].c;
    }
    if (swapped)
      std::swap(a, b);
    if (call.k == 0)
      return call.accumulate ? void() : clear(c);
    if (!left || !right || !result)
      return general(a, b, c);
    dnnl_status_t status = dnnl_sgemm(left->transposed ? 'T' : 'N', right->transposed ? 'T' : 'N',
                                      call.m, call.n, call.k, 1.0f, a, left->lead, b, right->lead,
                                      call.accumulate ? 1.0f : 0.0f, c, result->lead);
    if (status != dnnl_success)
      throw Error(ErrorKind::machine,
                  std::string("oneDNN refused a matrix product: ") + dnnl_status2str(status));
  }

  void clear(float *c) const {
    for (int64_t i = 0; i < call.m; ++i)
      for (int64_t j = 0; j < call.n; ++j)
        c[i * call.c_row_stride + j * call.c_column_stride] = 0;
  }

  /// Strides that sgemm has no words for. Slow and rare; the sum is taken in double precision.
  void general(const float *a, const float *b, float *c) const {
    for (int64_t i = 0; i < call.m; ++i)
      for (int64_t j = 0; j < call.n; ++j) {
        float &target = c[i * call.c_row_stride + j * call.c_column_stride];
        double sum = call.accumulate ? target : 0.0;
        for (int64_t k = 0; k < call.k; ++k)
          sum += double(a[i * call.a_row_stride + k * call.a_column_stride]) *
                 b[k * call.b_row_stride + j * call.b_column_stride];
        target = static_cast<float>(sum);
      }
  }

  accc_matmul call; // folded, and turned so that the result lies in rows
  const Team &team;
  std::vector<BatchDim> batch;
  int64_t batches = 1;
  bool swapped = false;
  std::optional<Operand> left, right, result;
};

} // namespace

std::unique_ptr<LibraryCall> createMatmul(const accc_matmul &matmul, const Team &team) {
  return std::make_unique<Matmul>(matmul, team);
}

} // namespace accc::detail
