// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variances are means of squared distances from the mean (two passes), and biased unless said otherwise.
// Statistics are computed in f32 where x is f16 or bf16.
#ifndef ACCC_IR_NN_NORMALIZATION
#define ACCC_IR_NN_NORMALIZATION

include "ir/nn/NnDialect.td"

def Nn_LayerNormOp : Nn_OpWithGradient<"layer_norm", [AttrSizedOperandSegments] # Nn_Infers> {
  let summary = "normalises over the trailing dimensions, axis and after";
  let description = [{
    y = (x - mean) / sqrt(var + epsilon) * scale + bias.
    Source: Ba, Kiros and Hinton, "Layer normalization", 2016.
    layer_norm_c1: 0 <= axis < rank(x).
    layer_norm_c2: scale and bias have the shape shape(x)[axis:].}];
  let arguments = (ins Prim_FloatTensor:$x, Optional<Prim_FloatTensor>:$scale,
                       Optional<Prim_FloatTensor>:$bias, I64Attr:$axis, Nn_NumberAttr:$epsilon);
  let results = (outs Prim_FloatTensor:$result);
  let assemblyFormat = [{
    $x (`scale` $scale^)? (`bias` $bias^)? attr-dict `:` functional-type(operands, results)}];
}

def Nn_RmsNormOp : Nn_OpWithGradient<"rms_norm", Nn_Infers> {
  let summary = "divides by the root of the mean square over the trailing dimensions, axis and after";
  let description = [{
    y = x / sqrt(mean(x^2) + epsilon) * scale.
    Source: Zhang and Sennrich, "Root mean square layer normalization", 2019.
    rms_norm_c1: 0 <= axis < rank(x).
    rms_norm_c2: scale has the shape shape(x)[axis:].}];
  let arguments = (ins Prim_FloatTensor:$x, Optional<Prim_FloatTensor>:$scale, I64Attr:$axis,
                       Nn_NumberAttr:$epsilon);
  let results = (outs Prim_FloatTensor:$result);
  let assemblyFormat = "$x (`scale` $scale^)? attr-dict `:` functional-type(operands, results)";
}

def Nn_GroupNormOp : Nn_Op<"group_norm", Nn_Infers> {
  let summary = "normalises each sample over groups of channels and all positions";
  let description = [{
    The channels, dimension 1, form `groups` groups of neighbours; y = (x - mean) / sqrt(var + epsilon) *
    scale + bias with mean and var of the sample's group, scale and bias of the channel.
    Source: Wu and He, "Group normalization", 2018.
    group_norm_c1: rank(x) >= 2; scale and bias have the shape [dim(x, 1)].
    group_norm_c2: groups >= 1 divides dim(x, 1).}];
  let arguments = (ins Prim_FloatTensor:$x, Prim_FloatTensor:$scale, Prim_FloatTensor:$bias,
                       I64Attr:$groups, Nn_NumberAttr:$epsilon);
  let results = (outs Prim_FloatTensor:$result);
}

def Nn_InstanceNormOp : Nn_Op<"instance_norm", Nn_Infers> {
  let summary = "normalises each channel of each sample over all positions";
  let description = [{
    group_norm with as many groups as channels.
    instance_norm_c1: rank(x) >= 3; scale and bias have the shape [dim(x, 1)].}];
  let arguments = (ins Prim_FloatTensor:$x, Prim_FloatTensor:$scale, Prim_FloatTensor:$bias,
                       Nn_NumberAttr:$epsilon);
  let results = (outs Prim_FloatTensor:$result);
}

#endif
