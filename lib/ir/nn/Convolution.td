// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Channels first: x [N, C, spatial...]. Geometry attributes have one entry for each spatial dimension.
#ifndef ACCC_IR_NN_CONVOLUTION
#define ACCC_IR_NN_CONVOLUTION

include "ir/nn/NnDialect.td"

class Nn_ConvolutionLike<string mnemonic, dag extra> : Nn_Op<mnemonic, Nn_Multiplies> {
  let arguments = !con((ins Prim_FloatTensor:$x, Prim_FloatTensor:$w, Optional<Prim_FloatTensor>:$bias,
                            DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                            DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high), extra,
                       (ins I64Attr:$groups));
  let results = (outs Prim_FloatTensor:$result);
  let assemblyFormat = "$x `,` $w (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
}

def Nn_ConvolutionOp : Nn_ConvolutionLike<"convolution", (ins)> {
  let summary = "prim.convolution plus a bias for each output channel";
  let description = [{
    x [N, C, spatial...], w [O, C / groups, kernel...], bias [O], result [N, O, spatial'...];
    dim(result) = floor((dim(x) + low + high - ((kernel - 1) * dilation + 1)) / stride) + 1.
    convolution_c1: 1 to 3 spatial dimensions, with one geometry entry each; strides, dilations >= 1.
    convolution_c2: groups >= 1 divides C and O; dim(w, 1) = C / groups; one element type.
    convolution_c3: bias has the shape [O].
    convolution_c4: the kernel fits the padded input.}];
}

def Nn_ConvTransposeOp : Nn_ConvolutionLike<"conv_transpose", (ins DenseI64ArrayAttr:$output_padding)> {
  let summary = "the transpose of a convolution (its gradient with respect to data) plus a bias";
  let description = [{
    x [N, C, spatial...], w [C, O / groups, kernel...], bias [O], result [N, O, spatial'...];
    dim(result) = (dim(x) - 1) * stride + (kernel - 1) * dilation + 1 - low - high + output_padding.
    conv_transpose_c1: 1 to 3 spatial dimensions, with one geometry entry each; strides, dilations >= 1.
    conv_transpose_c2: groups >= 1 divides C = dim(w, 0); one element type.
    conv_transpose_c3: bias has the shape [O].
    conv_transpose_c4: 0 <= output_padding < stride; no extent of the result is negative.}];
}

#endif
