// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_NN_LINEAR
#define ACCC_IR_NN_LINEAR

include "ir/nn/NnDialect.td"

def Nn_MatmulOp : Nn_Op<"matmul", Nn_Multiplies> {
  let summary = "the matrix product with numpy's rules";
  let description = [{
    a [batch..., M, K] times b [batch..., K, N] gives [batch..., M, N], where batch dimensions broadcast.
    An operand of rank 1 is a row (a) or a column (b), whose extent of 1 disappears from the result.
    matmul_c1: both have rank >= 1 and the same element type.
    matmul_c2: the contracted extents agree.
    matmul_c3: the batch dimensions broadcast.}];
  let arguments = (ins Prim_FloatTensor:$a, Prim_FloatTensor:$b);
  let results = (outs Prim_FloatTensor:$result);
}

def Nn_LinearOp : Nn_Op<"linear", Nn_Multiplies> {
  let summary = "x w + bias, or x w^T + bias, over the last dimension of x";
  let description = [{
    x [..., K], w [K, N] (or [N, K] if transpose_w, as PyTorch keeps it), bias [N], result [..., N].
    Of 16-bit floats the sums and the bias are added in f32, and rounded once.
    linear_c1: rank(x) >= 1, rank(w) = 2, all of the same element type.
    linear_c2: the contracted extents agree.
    linear_c3: bias has the shape [N].}];
  let arguments = (ins Prim_FloatTensor:$x, Prim_FloatTensor:$w, Optional<Prim_FloatTensor>:$bias,
                       BoolAttr:$transpose_w);
  let results = (outs Prim_FloatTensor:$result);
  let assemblyFormat = "$x `,` $w (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
}

#endif
