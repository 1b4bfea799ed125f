// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_CONTRACTIONS
#define ACCC_IR_PRIM_CONTRACTIONS

include "ir/prim/PrimDialect.td"

class Prim_MatrixProduct<string mnemonic, list<Trait> traits = []>
    : Prim_Op<mnemonic, "Opaque", [MatrixProduct, Prim_RoundsItself] # traits,
              Prim_Chunks # Prim_HasGradient # Prim_Infers> {
  dag dimensions = (ins DenseI64ArrayAttr:$lhs_batch, DenseI64ArrayAttr:$rhs_batch,
                        DenseI64ArrayAttr:$lhs_contracting, DenseI64ArrayAttr:$rhs_contracting,
                        UnitAttr:$full_precision, UnitAttr:$wide_result);
  let results = (outs Prim_FloatTensor:$result);
}

def Prim_DotGeneralOp : Prim_MatrixProduct<"dot_general"> {
  let summary = "sums products over contracted dimensions, for every index of the batch dimensions";
  let description = [{
    shape(result) = batch extents + free extents of lhs + free extents of rhs, each in operand order.
    Accumulates in f32 for f16 and bf16. The result has the factors' element type, or with `wide_result`
    f32: the sums as they are.
    `full_precision`: no option may round the factors further (--precision tf32, bf16). It is of products that
    stand for something else, a factorization's, a Fourier transform's, a resize's, and of those that a module
    takes out of torch.autocast. So are their gradients.
    dot_general_c1: batch and contracting lists have equal length on both sides, distinct and in range.
    dot_general_c2: paired dimensions have equal extents.
    dot_general_c3: both operands have the same element type.
    dot_general_c4: with wide_result it is f16 or bf16.}];
  let arguments = !con((ins Prim_FloatTensor:$lhs, Prim_FloatTensor:$rhs), dimensions);
}

def Prim_GemmOp : Prim_MatrixProduct<"gemm", [DeclareOpInterfaceMethods<Decomposable>]> {
  let summary = "dot_general as one library call: of views of its operands, with a bias added to each row of the result";
  let description = [{
    `bias` has the free extents of rhs; every other dimension of the result repeats it. Fusion adds it where a
    library adds a bias before it stores the product (FuseEpilogues).
    `views` says where in lhs and in rhs the elements of the two factors are: memref types, whose strides count
    the operand's elements in row-major order. The dimensions are the factors'. Without it the operands are the
    factors. Fusion adds it where a factor would have to be copied out of a tensor that has it among others
    (ViewContractionOperands).
    gemm_c1: the factors and the dimensions are those of a dot_general.
    gemm_c2: the bias has the free extents of rhs, and the result's element type.
    gemm_c3: there are two views, of the element types of their operands, within which they lie.}];
  let arguments = !con((ins Prim_FloatTensor:$lhs, Prim_FloatTensor:$rhs, Optional<Prim_FloatTensor>:$bias,
                            OptionalAttr<TypeArrayAttr>:$views), dimensions);
}

// The three convolutions are one trilinear form <dy, conv(x, w)>, each op its derivative with respect to
// one argument; so the derivative of each is made of the other two.

class Prim_ConvolutionLike<string mnemonic, string filterOperand>
    : Prim_Op<mnemonic, "Opaque", [ConvolutionLike, Prim_RoundsItself], Prim_HasGradient> {
  dag geometry = (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                      DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high, I64Attr:$groups,
                      DefaultValuedAttr<BoolAttr, "false">:$channels_last,
                      DefaultValuedAttr<BoolAttr, "false">:$filter_channels_last);
  let hasVerifier = 1;
  let extraClassDeclaration = fusionClassDeclaration # [{
    std::optional<unsigned> getFilterOperand() { return }] # filterOperand # "; }";
}

def Prim_ConvolutionOp : Prim_ConvolutionLike<"convolution", "1"> {
  let summary = "y = conv(x, w), a cross-correlation as in ONNX Conv";
  let description = [{
    x [N, C, spatial...] (or [N, spatial..., C] if channels_last), w [O, C / groups, kernel...]
    (or [O, kernel..., C / groups] if filter_channels_last), y [N, O, spatial'...] (or [N, spatial'..., O]
    if channels_last). 1 to 3 spatial dimensions.
    dim(y) = floor((dim(x) + low + high - ((kernel - 1) * dilation + 1)) / stride) + 1.
    convolution_c1: geometry attributes have one entry for each spatial dimension; strides, dilations >= 1.
    convolution_c2: groups divides C and O, w has C / groups input channels.
    convolution_c3: the result type follows from the formula.}];
  let arguments = !con((ins Prim_FloatTensor:$x, Prim_FloatTensor:$w), geometry);
  let results = (outs Prim_FloatTensor:$result);
}

def Prim_ConvolutionBackwardDataOp : Prim_ConvolutionLike<"convolution_backward_data", "1"> {
  let summary = "dx for y = conv(x, w)";
  let description = [{The result's type gives the shape of x. Constraints as convolution_c1 to c3.}];
  let arguments = !con((ins Prim_FloatTensor:$dy, Prim_FloatTensor:$w), geometry);
  let results = (outs Prim_FloatTensor:$result);
}

def Prim_ConvolutionBackwardWeightsOp : Prim_ConvolutionLike<"convolution_backward_weights", "std::nullopt"> {
  let summary = "dw for y = conv(x, w)";
  let description = [{The result's type gives the shape of w. Constraints as convolution_c1 to c3.}];
  let arguments = !con((ins Prim_FloatTensor:$x, Prim_FloatTensor:$dy), geometry);
  let results = (outs Prim_FloatTensor:$result);
}

#endif
