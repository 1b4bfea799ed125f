// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrences along the rows of stacks of matrices [matrices, rows, columns], each by a loop in one kernel, so
// that code and compile time do not grow with the rows.
#ifndef ACCC_IR_PRIM_RECURRENCES
#define ACCC_IR_PRIM_RECURRENCES

include "ir/prim/PrimDialect.td"

class Prim_RecurrenceOp<string mnemonic> : Prim_Op<mnemonic, "Matrix", [], Prim_HasGradient # Prim_Infers> {
  let arguments = (ins Prim_MatrixTensor:$x, Prim_MatrixTensor:$a);
  let results = (outs Prim_MatrixTensor:$y);
}

def Prim_LinearRecurrenceOp : Prim_RecurrenceOp<"linear_recurrence"> {
  let summary = "y[t, s] = x[t, s] + sum of a[k, t, s] y[t - 1, s - k] over k";
  let description = [{
    Row 0 is that of x. There are no terms of columns before the first.
    linear_recurrence_c1: x is [matrices, rows, columns], a [matrices, terms, rows, columns], of one element type.}];
}

def Prim_LogRecurrenceOp : Prim_RecurrenceOp<"log_recurrence"> {
  let summary = "y[t, s] = log(exp x[t, s] + sum of exp(a[k, t, s] + y[t - 1, s - k]) over k)";
  let description = [{
    prim.linear_recurrence of logarithms: the scores of all paths through a lattice, as in the loss of
    connectionist temporal classification. Row 0 is that of x. There are no terms of columns before the first. The
    gradient is 0 where all terms are -inf.
    log_recurrence_c1: x is [matrices, rows, columns], a [matrices, terms, rows, columns], of one element type.}];
}

#endif
