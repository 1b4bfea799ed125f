// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factorizations of stacks of matrices [matrices, rows, columns], each by a loop in one kernel, so that code
// does not grow with the matrices. What is linear in a factor is built of these and of prim.dot_general.
#ifndef ACCC_IR_PRIM_MATRICES
#define ACCC_IR_PRIM_MATRICES

include "ir/prim/PrimDialect.td"

def Prim_CountTensor : Prim_TensorOf<[I32]>;

class Prim_MatrixOp<string mnemonic, list<Trait> traits> : Prim_Op<mnemonic, "Matrix", [], traits>;

def Prim_CholeskyOp : Prim_MatrixOp<"cholesky", [Prim_ReportsErrors] # Prim_HasGradient # Prim_Infers> {
  let summary = "the lower triangular factor of symmetric positive definite matrices, a = l l^T";
  let description = [{
    Reads the lower triangle of a. `info` is 0, or k where the leading minor of k rows is not positive: from
    its last column on l is NaN then, and with `check_errors` that is a data error at run time.
    Gradient: Murray, "Differentiation of the Cholesky decomposition", 2016.
    cholesky_c1: a is [matrices, n, n].}];
  let arguments = (ins Prim_MatrixTensor:$a, BoolAttr:$check_errors);
  let results = (outs Prim_MatrixTensor:$l, Prim_CountTensor:$info);
}

def Prim_LuOp : Prim_MatrixOp<"lu", [Prim_ReportsErrors] # Prim_HasGradient # Prim_Infers> {
  let summary = "triangular factors by elimination with partial pivoting, p a = l u";
  let description = [{
    `lu` has u on and above the diagonal, and below it l, whose diagonal of ones is left out. Step i exchanged
    rows i and pivots[i] - 1 (LAPACK's getrf). `info` is 0, or k where pivot k is the first that is 0; with
    `check_errors` that is a data error at run time.
    lu_c1: a is [matrices, m, n].}];
  let arguments = (ins Prim_MatrixTensor:$a, BoolAttr:$check_errors);
  let results = (outs Prim_MatrixTensor:$lu, Prim_CountTensor:$pivots, Prim_CountTensor:$info);
}

def Prim_PivotedRowsOp : Prim_MatrixOp<"pivoted_rows", [Prim_ReportsErrors] # Prim_NoGradient # Prim_Infers> {
  let summary = "which row stands where after the exchanges of prim.lu";
  let description = [{
    Row i of p a is row result[i] of a. A pivot that is not the number of a row is a data error at run time.
    pivoted_rows_c1: pivots are [matrices, exchanges], of no more exchanges than rows.}];
  let arguments = (ins Prim_CountTensor:$pivots, I64Attr:$rows);
  let results = (outs Prim_TensorOf<[I64]>:$result);
}

def Prim_TriangularSolveOp : Prim_MatrixOp<"triangular_solve", Prim_HasGradient # Prim_Infers> {
  let summary = "x with a x = b, or a^T x = b, for triangular matrices a";
  let description = [{
    Reads the upper or the lower triangle of a, and with `unit` takes its diagonal to be ones. A zero on the
    diagonal gives what a division by it gives.
    triangular_solve_c1: a is [matrices, n, n], b [matrices, n, columns], of one element type.}];
  let arguments = (ins Prim_MatrixTensor:$a, Prim_MatrixTensor:$b, BoolAttr:$upper, BoolAttr:$transpose,
                       BoolAttr:$unit);
  let results = (outs Prim_MatrixTensor:$x);
}

def Prim_HouseholderOp : Prim_MatrixOp<"householder", Prim_NoGradient # Prim_Infers> {
  let summary = "orthogonal triangularization by reflections (LAPACK's geqrf)";
  let description = [{
    The rows of x are the columns of the matrix a = q r. On and before the diagonal of a row of `packed` is the
    column of r, behind it v_i, without its 1 on the diagonal: q is the product of 1 - taus[i] v_i v_i^T.
    Only nn.qr makes it, which has the gradient.
    householder_c1: x is [matrices, n, m].}];
  let arguments = (ins Prim_MatrixTensor:$x);
  let results = (outs Prim_MatrixTensor:$packed, Prim_MatrixTensor:$taus);
}

def Prim_JacobiEighOp : Prim_MatrixOp<"jacobi_eigh", Prim_NoGradient # Prim_Infers> {
  let summary = "eigenvalues and eigenvectors of symmetric matrices by rotations, in no order";
  let description = [{
    Reads the lower triangle of a. The eigenvalues are the diagonal of `rotated`, which is a in the basis of the
    eigenvectors, the rows of `vectors`. Only nn.eigh makes it, which has the gradient.
    Source: Golub and Van Loan, "Matrix computations", 8.5.
    jacobi_eigh_c1: a is [matrices, n, n].}];
  let arguments = (ins Prim_MatrixTensor:$a);
  let results = (outs Prim_MatrixTensor:$rotated, Prim_MatrixTensor:$vectors);
}

def Prim_JacobiSvdOp : Prim_MatrixOp<"jacobi_svd", Prim_NoGradient # Prim_Infers> {
  let summary = "singular values and right singular vectors by rotations, in no order";
  let description = [{
    The rows of x are the columns of the matrix a = u s v^T. The rows of `vectors` are the columns of v, and
    those of `rotated` the columns of a v = u s, which are orthogonal. Only nn.svd makes it, which has the gradient.
    Source: Hestenes, "Inversion of matrices by biorthogonalization", 1958.
    jacobi_svd_c1: x is [matrices, n, m].}];
  let arguments = (ins Prim_MatrixTensor:$x);
  let results = (outs Prim_MatrixTensor:$rotated, Prim_MatrixTensor:$vectors);
}

#endif
