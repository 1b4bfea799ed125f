// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variances are as in Normalization.td, and statistics are computed in f32 where x is f16 or bf16.
#ifndef ACCC_IR_NN_BATCHNORM
#define ACCC_IR_NN_BATCHNORM

include "ir/nn/NnDialect.td"

def Nn_BatchNormTrainingOp
    : Nn_OpWithGradient<"batch_norm_training",
                        [DeclareOpInterfaceMethods<ModeDependent>, BatchDependent] # Nn_Infers> {
  let summary = "normalises each channel by the mean and variance of the batch, and updates the running ones";
  let description = [{
    mean and var are taken over all dimensions of x but the channel's, dimension 1:
    y = (x - mean) / sqrt(var + epsilon) * scale + bias
    new_mean = (1 - momentum) running_mean + momentum mean, and so new_var, with var n / (n - 1) in place
    of var if unbiased (as PyTorch does; ONNX uses the biased one). The momentum is PyTorch's, 1 minus ONNX's.
    `synchronized`, mean, var and n are of the rows of all processes that train together, which may have unequal numbers
    of them (PyTorch's SyncBatchNorm), otherwise of those of this process.
    Source: Ioffe and Szegedy, "Batch normalization", 2015.
    batch_norm_c1: rank(x) >= 2; scale, bias, running_mean and running_var have the shape [dim(x, 1)].}];
  let arguments = (ins Prim_FloatTensor:$x, Prim_FloatTensor:$scale, Prim_FloatTensor:$bias,
                       Prim_FloatTensor:$running_mean, Prim_FloatTensor:$running_var,
                       Nn_NumberAttr:$epsilon, Nn_NumberAttr:$momentum, BoolAttr:$unbiased,
                       UnitAttr:$synchronized);
  let results = (outs Prim_FloatTensor:$y, Prim_FloatTensor:$new_mean, Prim_FloatTensor:$new_var);
}

def Nn_BatchNormUntrackedOp
    : Nn_OpWithGradient<"batch_norm_untracked", [BatchDependent] # Nn_Infers> {
  let summary = "normalises each channel by the mean and variance of the batch, in evaluation too";
  let description = [{
    y of batch_norm_training, `synchronized` or not; nothing keeps running statistics (PyTorch's track_running_stats=False).
    batch_norm_c1: rank(x) >= 2; scale and bias have the shape [dim(x, 1)].}];
  let arguments = (ins Prim_FloatTensor:$x, Prim_FloatTensor:$scale, Prim_FloatTensor:$bias,
                       Nn_NumberAttr:$epsilon, UnitAttr:$synchronized);
  let results = (outs Prim_FloatTensor:$y);
}

def Nn_BatchNormInferenceOp : Nn_Op<"batch_norm_inference", Nn_Infers> {
  let summary = "normalises each channel by a given mean and variance";
  let description = [{
    y = (x - mean) / sqrt(var + epsilon) * scale + bias, with the channel in dimension 1.
    batch_norm_c1: rank(x) >= 2; scale, bias, mean and var have the shape [dim(x, 1)].}];
  let arguments = (ins Prim_FloatTensor:$x, Prim_FloatTensor:$scale, Prim_FloatTensor:$bias,
                       Prim_FloatTensor:$mean, Prim_FloatTensor:$var, Nn_NumberAttr:$epsilon);
  let results = (outs Prim_FloatTensor:$result);
}

#endif
