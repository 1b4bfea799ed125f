// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses of a choice between classes.
// All as PyTorch defines them. `reduction` none gives one loss a position; mean and sum give a tensor of
// rank 0. Losses are computed in f32 where the operand is f16 or bf16, and have the operand's type.
#ifndef ACCC_IR_NN_CLASSLOSSES
#define ACCC_IR_NN_CLASSLOSSES

include "ir/nn/NnDialect.td"

def Nn_CrossEntropyOp : Nn_OpWithGradient<"cross_entropy", Nn_Infers> {
  let summary = "-log softmax(logits)[target] over the class dimension";
  let description = [{
    logits [N, C, d1, ...] (or [C]), target either class indices (integers) [N, d1, ...] or class
    probabilities (floats) of the shape of logits; weight [C] is the weight of each class.
    Indices, with p = log softmax(logits), e = label_smoothing and t the position's class:
      loss = -(1 - e) weight[t] p[t] - e / C sum_c weight[c] p[c], 0 where t = ignore_index;
      mean divides the sum by the sum of weight[t] over positions not ignored (NaN if all are ignored).
    Probabilities: loss = -sum_c weight[c] ((1 - e) target[c] + e / C) p[c]; mean is the plain mean, and
      ignore_index is not looked at.
    A class outside [0, C) that is not ignore_index is a data error at run time.
    cross_entropy_c1: logits has rank >= 1, and target the shape that its kind asks for.
    cross_entropy_c2: weight has the shape [C] and the element type of logits.
    cross_entropy_c3: 0 <= label_smoothing <= 1.}];
  let arguments = (ins Prim_FloatTensor:$logits, Prim_TensorOf<[I32, I64, Prim_Float]>:$target,
                       Optional<Prim_FloatTensor>:$weight, OptionalAttr<I64Attr>:$ignore_index,
                       Nn_NumberAttr:$label_smoothing, Nn_ReductionAttr:$reduction);
  let results = (outs Prim_FloatTensor:$result);
  let assemblyFormat = [{
    $logits `,` $target (`weight` $weight^)? attr-dict `:` functional-type(operands, results)}];
}

def Nn_NllLossOp : Nn_Op<"nll_loss", Nn_Infers> {
  let summary = "-log_probs[target] over the class dimension";
  let description = [{
    cross_entropy with class indices, of log probabilities that are already there.
    nll_loss_c1, c2: as cross_entropy_c1, c2.}];
  let arguments = (ins Prim_FloatTensor:$log_probs, Prim_IndexTensor:$target,
                       Optional<Prim_FloatTensor>:$weight, OptionalAttr<I64Attr>:$ignore_index,
                       Nn_ReductionAttr:$reduction);
  let results = (outs Prim_FloatTensor:$result);
  let assemblyFormat = [{
    $log_probs `,` $target (`weight` $weight^)? attr-dict `:` functional-type(operands, results)}];
}

#endif
