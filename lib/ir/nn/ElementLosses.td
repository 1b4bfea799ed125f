// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses of each element of x against the same element of target.
// All as PyTorch defines them. `reduction` none gives one loss a position; mean and sum give a tensor of
// rank 0. Losses are computed in f32 where the operand is f16 or bf16, and have the operand's type.
#ifndef ACCC_IR_NN_ELEMENTLOSSES
#define ACCC_IR_NN_ELEMENTLOSSES

include "ir/nn/NnDialect.td"

class Nn_ElementLoss<string mnemonic, dag extra, list<Trait> traits = []>
    : Nn_OpWithGradient<mnemonic, traits # [AllTypesMatch<["x", "target"]>] # Nn_Infers> {
  let arguments = !con((ins Prim_FloatTensor:$x, Prim_FloatTensor:$target), extra,
                       (ins Nn_ReductionAttr:$reduction));
  let results = (outs Prim_FloatTensor:$result);
}

def Nn_MseLossOp : Nn_ElementLoss<"mse_loss", (ins)> {
  let summary = "(x - target)^2";
}

def Nn_L1LossOp : Nn_ElementLoss<"l1_loss", (ins)> {
  let summary = "|x - target|; the gradient at 0 is 0";
}

def Nn_SmoothL1LossOp : Nn_ElementLoss<"smooth_l1_loss", (ins Nn_NumberAttr:$beta)> {
  let summary = "d^2 / (2 beta) where d = |x - target| < beta, else d - beta / 2";
}

def Nn_HuberLossOp : Nn_ElementLoss<"huber_loss", (ins Nn_NumberAttr:$delta)> {
  let summary = "d^2 / 2 where d = |x - target| <= delta, else delta (d - delta / 2)";
}

def Nn_BceWithLogitsOp : Nn_ElementLoss<"bce_with_logits",
    (ins Optional<Prim_FloatTensor>:$weight, Optional<Prim_FloatTensor>:$pos_weight),
    [AttrSizedOperandSegments]> {
  let summary = "-(pos_weight target log s + (1 - target) log(1 - s)) weight, where s = logistic(x)";
  let description = [{
    Computed as (1 - target) x + (1 + (pos_weight - 1) target) (log1p(e^-|x|) + max(-x, 0)), which neither
    overflows nor cancels.
    bce_with_logits_c1: weight and pos_weight broadcast to the shape of x by numpy's rule.}];
  let assemblyFormat = [{
    $x `,` $target (`weight` $weight^)? (`pos_weight` $pos_weight^)? attr-dict `:`
    functional-type(operands, results)}];
}

def Nn_BceOp : Nn_ElementLoss<"bce", (ins Optional<Prim_FloatTensor>:$weight)> {
  let summary = "-(target log x + (1 - target) log(1 - x)) weight, logarithms no less than -100";
  let description = [{bce_c1: weight broadcasts to the shape of x by numpy's rule.}];
  let assemblyFormat = [{
    $x `,` $target (`weight` $weight^)? attr-dict `:` functional-type(operands, results)}];
}

#endif
