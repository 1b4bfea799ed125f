// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factorizations of stacks of matrices [matrices, m, n] whose derivative is better than that of their parts.
// k = min(m, n).
#ifndef ACCC_IR_NN_MATRICES
#define ACCC_IR_NN_MATRICES

include "ir/nn/NnDialect.td"

def Nn_QrOp : Nn_OpWithGradient<"qr", Nn_Infers> {
  let summary = "an orthogonal and an upper triangular factor, a = q r";
  let description = [{
    By Householder's reflections, with LAPACK's signs. q is [matrices, m, k] and r [matrices, k, n]; `complete`:
    [matrices, m, m] and [matrices, m, n], which has no gradient where m > n, as in PyTorch.
    Source: Walter and Lehmann, "Algorithmic differentiation of linear algebra functions", 2018.
    qr_c1: a is [matrices, m, n].}];
  let arguments = (ins Prim_MatrixTensor:$a, BoolAttr:$complete);
  let results = (outs Prim_MatrixTensor:$q, Prim_MatrixTensor:$r);
}

def Nn_LuSolveOp : Nn_OpWithGradient<"lu_solve", Nn_Infers> {
  let summary = "x with a x = b, or a^T x = b, by the factors that prim.lu has of a";
  let description = [{
    The gradient is that of a itself, and of b, by one more solution with the same factors; none goes to these.
    Source: Giles, "An extended collection of matrix derivative results", 2008.
    lu_solve_c1: a and lu are [matrices, n, n], pivots [matrices, n], b [matrices, n, columns].}];
  let arguments = (ins Prim_MatrixTensor:$a, Prim_MatrixTensor:$lu, Prim_TensorOf<[I32]>:$pivots,
                       Prim_MatrixTensor:$b, BoolAttr:$transpose);
  let results = (outs Prim_MatrixTensor:$x);
}

def Nn_EighOp : Nn_OpWithGradient<"eigh", Nn_Infers> {
  let summary = "eigenvalues, ascending, and eigenvectors of symmetric matrices, a = vectors values vectors^T";
  let description = [{
    Reads the lower triangle. The gradient is that of what does not hang on the signs of the vectors, and has a
    pole where eigenvalues are equal and the vectors' cotangents are not 0.
    Source: Giles, "An extended collection of matrix derivative results", 2008.
    eigh_c1: a is [matrices, n, n].}];
  let arguments = (ins Prim_MatrixTensor:$a);
  let results = (outs Prim_MatrixTensor:$values, Prim_MatrixTensor:$vectors);
}

def Nn_SvdOp : Nn_OpWithGradient<"svd", Nn_Infers> {
  let summary = "singular values, descending, and singular vectors, a = u s vh";
  let description = [{
    u is [matrices, m, k], s [matrices, k], vh [matrices, k, n]; `full`: u [matrices, m, m] and
    vh [matrices, n, n], whose further vectors have no gradient. As for nn.eigh the gradient is that of what
    does not hang on signs.
    Source: Townsend, "Differentiating the singular value decomposition", 2016.
    svd_c1: a is [matrices, m, n].}];
  let arguments = (ins Prim_MatrixTensor:$a, BoolAttr:$full);
  let results = (outs Prim_MatrixTensor:$u, Prim_MatrixTensor:$s, Prim_MatrixTensor:$vh);
}

#endif
