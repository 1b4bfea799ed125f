// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_ATTENTION
#define ACCC_IR_PRIM_ATTENTION

include "ir/prim/PrimDialect.td"

// What a library runs whole; where the target's does not, it becomes contractions (--expand-attention).
class Prim_AttentionLike<string mnemonic>
    : Prim_Op<mnemonic, "Opaque", [AttentionLike, Prim_RoundsItself, DeclareOpInterfaceMethods<Decomposable>],
              Prim_HasGradient # Prim_Infers> {
  dag factors = (ins Prim_FloatTensor:$q, Prim_FloatTensor:$k, Prim_FloatTensor:$v);
  dag options = (ins F64Attr:$scale, BoolAttr:$causal);
}

def Prim_AttentionOp : Prim_AttentionLike<"attention"> {
  let summary = "softmax(scale q k^T + bias) v for each head, positions before heads";
  let description = [{
    q [B, T, H, D], k [B, S, Hk, D], v [B, S, Hk, Dv], result [B, T, H, Dv]. H is a multiple of Hk: query head h
    reads key and value head h / (H / Hk). bias [B or 1, H or 1, T or 1, S]. `causal`: the query at t sees keys
    s <= t alone. stats [B, H, T] are
    the logarithms of the sums of e^score, of 16-bit floats in f32. Scores and softmax are computed in that type;
    a library may round the weights of its values before it divides by their sum.
    Source: Vaswani et al., "Attention is all you need", 2017; Dao et al., "FlashAttention", 2022.
    attention_c1: q, k and v have rank 4, one element type, and extents that agree as above.
    attention_c2: there are a key and a feature.
    attention_c3: bias has that shape, and the element type of q.}];
  let arguments = !con(factors, (ins Optional<Prim_FloatTensor>:$bias), options);
  let results = (outs Prim_FloatTensor:$result, Prim_FloatTensor:$stats);
}

def Prim_AttentionBackwardOp : Prim_AttentionLike<"attention_backward"> {
  let summary = "dq, dk and dv for y = attention(q, k, v, bias)";
  let description = [{
    y and stats are what prim.attention gives of q, k, v and bias; dy has the type of y.
    attention_backward_c1: q, k, v and bias are those of an attention, of which y, stats and dy have the types.}];
  let arguments = !con(factors, (ins Prim_FloatTensor:$y, Prim_FloatTensor:$stats, Prim_FloatTensor:$dy,
                                     Optional<Prim_FloatTensor>:$bias), options);
  let results = (outs Prim_FloatTensor:$dq, Prim_FloatTensor:$dk, Prim_FloatTensor:$dv);
}

#endif
