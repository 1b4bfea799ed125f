// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_NN_ATTENTION
#define ACCC_IR_NN_ATTENTION

include "ir/nn/NnDialect.td"

def Nn_AttentionOp : Nn_Op<"attention", Nn_Multiplies> {
  let summary = "softmax(scale q k^T + mask) v for each head";
  let description = [{
    q [B, H, T, D], k [B, Hk, S, D], v [B, Hk, S, Dv], result [B, H, T, Dv]. H is a multiple of Hk: query
    head h reads key and value head h / (H / Hk). mask broadcasts to [B, H, T, S] by numpy's rule: booleans
    say where to look, floats are added. causal also hides positions s > t. A query that may look nowhere
    gives 0. A positive softcap c replaces the scores s by c tanh(s / c). Of 16-bit floats scores are kept in
    f32, and the softmax is rounded for its product.
    Source: Vaswani et al., "Attention is all you need", 2017; Ainslie et al., "GQA", 2023.
    attention_c1: ranks are 4 and extents agree as above. attention_c2: mask broadcasts to [B, H, T, S].}];
  let arguments = (ins Prim_FloatTensor:$q, Prim_FloatTensor:$k, Prim_FloatTensor:$v,
                       Optional<Prim_TensorOf<[I1, Prim_Float]>>:$mask, Nn_NumberAttr:$scale,
                       BoolAttr:$causal, DefaultValuedAttr<Nn_NumberAttr, "0.0">:$softcap);
  let results = (outs Prim_FloatTensor:$result);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`mask` $mask^)? attr-dict `:` functional-type(operands, results)}];
}

def Nn_AttentionBackwardOp : Nn_Op<"attention_backward", Nn_Multiplies> {
  let summary = "the gradients of nn.attention with respect to q, k and v";
  let description = [{
    q, k, v and mask are those of an attention, and dy [B, H, T, Dv] the gradient of its result. Of backward passes
    that a file holds.
    attention_backward_c1: q, k, v and mask are those of an attention, of whose result dy has the type.}];
  let arguments = (ins Prim_FloatTensor:$q, Prim_FloatTensor:$k, Prim_FloatTensor:$v, Prim_FloatTensor:$dy,
                       Optional<Prim_TensorOf<[I1, Prim_Float]>>:$mask, Nn_NumberAttr:$scale, BoolAttr:$causal);
  let results = (outs Prim_FloatTensor:$dq, Prim_FloatTensor:$dk, Prim_FloatTensor:$dv);
}

def Nn_RotaryEmbeddingOp : Nn_OpWithGradient<"rotary_embedding", [AllTypesMatch<["x", "result"]>]> {
  let summary = "rotates pairs of features by an angle that depends on the position";
  let description = [{
    x [B, H, T, D], cos and sin [B, T, R / 2] or [T, R / 2]. The first R features form pairs (a, b):
    neighbours if interleaved, else feature i with feature i + R / 2. Each pair becomes
    (a cos - b sin, a sin + b cos); features from R on stay.
    Source: Su et al., "RoFormer", 2021.
    rotary_embedding_c1: the shapes are as above, R <= D; cos and sin have the same type.}];
  let arguments = (ins Prim_FloatTensor:$x, Prim_FloatTensor:$cos, Prim_FloatTensor:$sin,
                       BoolAttr:$interleaved);
  let results = (outs Prim_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif
