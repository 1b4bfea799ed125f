// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stacks of matrices [matrices, rows, columns] as values: what derivatives and importers build of
// the ops of Matrices.td.
#ifndef ACCC_IR_PRIM_MATRIXRULES_H
#define ACCC_IR_PRIM_MATRIXRULES_H

#include "ir/prim/Tensor.h"

namespace accc::prim {

/// a b in full precision: what is solved with it would lose more digits than it does. And a^T.
Tensor matrixProduct(Tensor a, Tensor b);
Tensor transposed(Tensor a);

/// The elements on and below (above) the diagonal that lies `offset` to the right of the main one;
/// zeros elsewhere.
Tensor lowerTriangle(Tensor a, int64_t offset = 0);
Tensor upperTriangle(Tensor a, int64_t offset = 0);
/// [matrices, n, n] of ones on the diagonal, and zeros.
Tensor identityMatrices(Tensor like, int64_t matrices, int64_t n);
/// The diagonal [matrices, min(rows, columns)], and diagonal matrices [matrices, n, n] of one.
Tensor diagonalOf(Tensor a);
Tensor diagonalMatrices(Tensor diagonal);

/// Row rows[i] (i64 [matrices, k]) of each matrix as row i, and the inverse for all rows.
Tensor takeRows(Tensor a, Tensor rows);
Tensor putRows(Tensor a, Tensor rows);

enum class Triangle { lower, upper, unitLower, unitUpper };
/// x with a x = b, or a^T x = b.
Tensor solveTriangular(Tensor a, Tensor b, Triangle triangle, bool transpose = false);
/// x with x a = b, or x a^T = b.
Tensor solveTriangularRight(Tensor a, Tensor b, Triangle triangle, bool transpose = false);

/// Row rows[i] of a goes to place i: rows of the pivots of prim.lu.
Tensor pivotedRows(Tensor pivots, int64_t rows);

/// x with a x = b, or a^T x = b, of stacks: a by its factors of prim.lu.
Tensor solveWithLu(Tensor lu, Tensor pivots, Tensor b, bool transpose);

/// The first `columns` columns of the product of reflections 1 - taus[i] v_i v_i^T, v_i being
/// column i of a below its 1 on the diagonal.
Tensor householderProduct(Tensor a, Tensor taus, int64_t columns);
/// That product, of all columns, or its transpose, times c.
Tensor householderProductTimes(Tensor a, Tensor taus, Tensor c, bool transpose);

} // namespace accc::prim

#endif
