// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_STRIDEDATTENTION
#define ACCC_IR_PRIM_STRIDEDATTENTION

include "ir/prim/PrimDialect.td"

// What an attention of the library's becomes where its factors and results lie in other tensors
// (--view-attention-operands).
class Prim_StridedAttentionLike<string mnemonic>
    : Prim_Op<mnemonic, "Opaque", [DeclareOpInterfaceMethods<AttentionLike, ["getFactorTypes"]>, Prim_RoundsItself,
                                   DeclareOpInterfaceMethods<Decomposable>], Prim_HasGradient> {
  dag factors = (ins Prim_FloatTensor:$q, Prim_FloatTensor:$k, Prim_FloatTensor:$v);
  dag options = (ins TypeArrayAttr:$views, F64Attr:$scale, BoolAttr:$causal);
  let hasVerifier = 1;
}

def Prim_StridedAttentionOp : Prim_StridedAttentionLike<"strided_attention"> {
  let summary = "attention of views of its operands, into a view of its result";
  let description = [{
    `views` says of q, k, v and the result of an attention where their elements are in operands and result here:
    memref types, whose strides count these tensors' elements in row-major order. A product that gives q, k and v
    side by side is the operand of all three.
    strided_attention_c1: each view has rank 4 and the element type of its tensor, and lies within it.
    strided_attention_c2: there is an attention of tensors of the views' shapes, and of the bias.
    strided_attention_c3: the result has as many elements as its view.}];
  let arguments = !con(factors, (ins Optional<Prim_FloatTensor>:$bias), options);
  let results = (outs Prim_FloatTensor:$result, Prim_FloatTensor:$stats);
}

def Prim_StridedAttentionBackwardOp : Prim_StridedAttentionLike<"strided_attention_backward"> {
  let summary = "attention_backward of views of its operands, into views of its results";
  let description = [{
    `views` are those of q, k, v, y, dy, dq, dk and dv, as in strided_attention; for each of the last three `places`
    says which result it lies in.
    strided_attention_backward_c1: each view has rank 4 and the element type of its tensor, and lies within it.
    strided_attention_backward_c2: there is an attention_backward of tensors of the views' shapes, and of the bias.
    strided_attention_backward_c3: no two views of a result share an element, and together they have as many
    as the result.}];
  let arguments = !con(factors, (ins Prim_FloatTensor:$y, Prim_FloatTensor:$stats, Prim_FloatTensor:$dy,
                                     Optional<Prim_FloatTensor>:$bias),
                       options, (ins DenseI64ArrayAttr:$places));
  let results = (outs Variadic<Prim_FloatTensor>:$gradients);
}

#endif
