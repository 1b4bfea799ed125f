// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the processes that train one model together exchange. Every process runs the same program,
// and with that the same collectives in the same order.
#ifndef ACCC_IR_PRIM_COLLECTIVES
#define ACCC_IR_PRIM_COLLECTIVES

include "ir/prim/PrimDialect.td"

// Several tensors at once; the interpreter is a group of one process.
class Prim_CollectiveOp<string mnemonic, list<Trait> gradient>
    : Prim_Op<mnemonic, "Opaque", Prim_Infers # [Prim_Collective], gradient> {
  let arguments = (ins Variadic<Prim_Tensor>:$inputs);
  let results = (outs Variadic<Prim_Tensor>:$outputs);
}

def Prim_AllReduceOp : Prim_CollectiveOp<"all_reduce", Prim_HasGradient> {
  let summary = "the mean, or the sum, of each tensor over all processes";
  let description = [{
    Element by element: the sum over the processes of x / n, for n of them, as DistributedDataParallel has it of
    gradients; with `sum` that of x. All processes get the same bits.
    all_reduce_c1: at least one operand.
    all_reduce_c2: the operands agree in element type.}];
  let arguments = (ins Variadic<Prim_FloatTensor>:$inputs, UnitAttr:$sum);
  let results = (outs Variadic<Prim_FloatTensor>:$outputs);
}

def Prim_BroadcastFromOp : Prim_CollectiveOp<"broadcast_from", Prim_NoGradient> {
  let summary = "the first process's value of each tensor";
  let description = [{
    What process 0 has, of any element type, is the result in all processes: a constant, for derivatives.
    Constraints as all_reduce_c1 and c2.}];
}

#endif
