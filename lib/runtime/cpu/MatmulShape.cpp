// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatmulShape.h"

#include <utility>

namespace accc::detail {

namespace {

/// A stride along an extent of 1 does not matter.
std::optional<MatrixLayout> inRows(int64_t rows, int64_t columns, int64_t rowStride,
                                   int64_t columnStride) {
  if ((columnStride == 1 || columns == 1) && (rowStride >= columns || rows == 1))
    return MatrixLayout{false, rows == 1 ? columns : rowStride};
  return std::nullopt;
}

std::optional<MatrixLayout> inRowsOrColumns(int64_t rows, int64_t columns, int64_t rowStride,
                                            int64_t columnStride) {
  if (auto layout = inRows(rows, columns, rowStride, columnStride))
    return layout;
  if (auto layout = inRows(columns, rows, columnStride, rowStride))
    return MatrixLayout{true, layout->lead};
  return std::nullopt;
}

} // namespace

MatmulShape::MatmulShape(const accc_matmul &call)
    : m(call.m), n(call.n), k(call.k), aRow(call.a_row_stride), aColumn(call.a_column_stride),
      bRow(call.b_row_stride), bColumn(call.b_column_stride), cRow(call.c_row_stride),
      cColumn(call.c_column_stride) {
  for (int32_t i = 0; i < call.batch_rank; ++i) {
    products *= call.batch[i];
    if (call.batch[i] != 1)
      loops.push_back({call.batch[i], call.a_batch_strides[i], call.b_batch_strides[i],
                       call.c_batch_strides[i]});
  }
  if (products == 0)
    return;
  foldIntoProduct();
  mergeLoops();
  turnResult();
  a = inRowsOrColumns(m, k, aRow, aColumn);
  b = inRowsOrColumns(k, n, bRow, bColumn);
  c = inRows(m, n, cRow, cColumn);
}

bool MatmulShape::bInPanels() const {
  return loops.size() == 1 && loops[0].a == 0 && loops[0].b == k * n && loops[0].c == n && b && c &&
         !b->transposed && b->lead == n && c->lead >= n * products;
}

/// A loop in which one operand stands still, and the others go on where their rows (or columns)
/// end, is more rows (or columns) of one larger product.
void MatmulShape::foldIntoProduct() {
  while (!loops.empty()) {
    const BatchLoop &loop = loops.back();
    bool rows = loop.b == 0 && loop.a == m * aRow && loop.c == m * cRow;
    bool columns = loop.a == 0 && loop.b == n * bColumn && loop.c == n * cColumn;
    if (!rows && !columns)
      return;
    (rows ? m : n) *= loop.extent;
    products /= loop.extent;
    loops.pop_back();
  }
}

/// Two loops are one where the inner ends, for every operand, at the outer's next turn.
void MatmulShape::mergeLoops() {
  for (size_t i = loops.size(); i-- > 1;) {
    BatchLoop &outer = loops[i - 1];
    const BatchLoop inner = loops[i];
    if (outer.a != inner.extent * inner.a || outer.b != inner.extent * inner.b ||
        outer.c != inner.extent * inner.c)
      continue;
    outer = {outer.extent * inner.extent, inner.a, inner.b, inner.c};
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// A result that lies in columns is the transposed product c' = b' a', whose result lies in rows.
void MatmulShape::turnResult() {
  if (inRows(m, n, cRow, cColumn))
    return;
  swapped = true;
  std::swap(m, n);
  std::swap(cRow, cColumn);
  std::swap(aRow, bColumn);
  std::swap(aColumn, bRow);
  for (BatchLoop &loop : loops)
    std::swap(loop.a, loop.b);
}

} // namespace accc::detail
