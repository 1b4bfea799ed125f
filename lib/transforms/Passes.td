// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composite operators become primitives, and these fewer. Free of any target.
#ifndef ACCC_TRANSFORMS_PASSES
#define ACCC_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def FormAttentionPass : Pass<"form-attention", "::mlir::func::FuncOp"> {
  let summary = "Makes attentions primitives, which a library can run whole";
  let description = [{
    Before the derivative, so that the gradient is one op as well, which needs no weights of the forward pass but
    the logarithm of each query's sum. A mask becomes a bias if it says where to look and no more: booleans, or
    floats of which a select makes 0 or a number that hides (not in f16, whose range is too small for such). Others, and
    those with a softcap, are decomposed like every composite. Gradients that a file holds itself
    (nn.attention_backward), if there is no mask, are those of an attention that they compute again: --simplify finds it to be the file's.

        %y = nn.attention %q, %k, %v {causal = true, scale = 1.250000e-01 : f64} : ... -> tensor<8x12x1024x64xbf16>

    becomes, with %q, %k and %v and the result transposed,

        %0, %stats = prim.attention %1, %2, %3 {causal = true, scale = 1.250000e-01 : f64}
                       : ... -> (tensor<8x1024x12x64xbf16>, tensor<8x12x1024xf32>)}];
  let options = [
    Option<"onlyUnmasked", "only-unmasked", "bool", "false", "Not those with a mask that is not known to be causal">,
    Option<"onlyHalf", "only-half", "bool", "false", "Only those of 16-bit floats">
  ];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def SinkViewsPass : Pass<"sink-views", "::mlir::func::FuncOp"> {
  let summary = "Moves transposes of rows behind the linear layers that read them";
  let description = [{
    A linear layer gives the same of each row, wherever the row lies. Modules that want positions before the batch
    transpose what they read and what they give, with layers in between: where all that is read of what a layer
    gives has the rows in their own order again, the transpose before the layer moves behind it, where views are
    simplified. Before the derivative, whose products then read rows where they lie, too; behind what recognises
    attentions by their views.

        %t = prim.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<8x5x4xf32>) -> tensor<5x8x4xf32>
        %y = nn.linear %t, %w {transpose_w = true} : (tensor<5x8x4xf32>, tensor<6x4xf32>) -> tensor<5x8x6xf32>
        %z = prim.transpose %y {permutation = array<i64: 1, 0, 2>} : (tensor<5x8x6xf32>) -> tensor<8x5x6xf32>

    becomes

        %z = nn.linear %x, %w {transpose_w = true} : (tensor<8x5x4xf32>, tensor<6x4xf32>) -> tensor<8x5x6xf32>
  }];
  let dependentDialects = ["::accc::prim::PrimDialect", "::accc::nn::NnDialect"];
}

def DecomposePass : Pass<"decompose", "::mlir::func::FuncOp"> {
  let summary = "Replaces composite operators by primitives";
  let description = [{
    Asks every op for its decomposition until none is left that has one. Fails, naming each op, if an op
    of `nn` remains.

        %0 = nn.silu %x : (tensor<8x4xf32>) -> tensor<8x4xf32>

    becomes

        %1 = prim.logistic %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
        %0 = prim.mul %x, %1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  }];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def SplitWindowsPass : Pass<"split-windows", "::mlir::func::FuncOp"> {
  let summary = "Reduces large windows one dimension after the other, and in two steps";
  let description = [{
    A kernel has the elements of a window as code, one by one. Windows of many elements are split until each has
    few: into one for each dimension, into blocks that are reduced where windows do not overlap, and into windows
    over the results of smaller ones. Windows of several dimensions that overlap so much that each element is in
    more than 16 of them are split as well: they read less, dimension by dimension. What is added to the greatest element
    of each window is added to the greatest of rows first, then to where a row has it, or where code would have to name too many
    windows, scattered to where that is.

        %y = prim.reduce_window sum %x {window = [1, 100], strides = [1, 1], ...} : (tensor<8x999xf32>) -> tensor<8x900xf32>

    becomes

        %s = prim.reduce_window sum %x {window = [1, 10], strides = [1, 1], dilations = [1, 1], ...} : (tensor<8x999xf32>) -> tensor<8x990xf32>
        %y = prim.reduce_window sum %s {window = [1, 10], strides = [1, 1], dilations = [1, 10], ...} : (tensor<8x990xf32>) -> tensor<8x900xf32>
  }];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def SimplifyPass : Pass<"simplify", "::mlir::func::FuncOp"> {
  let summary = "Simplifies primitives: algebra, constant folding, common subexpressions, dead code";
  let description = [{
    Composes views, removes ops without effect and evaluates constants. Values stay the same up to rounding: sums
    are not reordered, and no rule assumes that numbers are finite. A convolution whose kernel covers its input, which
    has one place, becomes a product of matrices.

        %0 = prim.reshape %x : (tensor<32x8xf32>) -> tensor<4x64xf32>
        %1 = prim.neg %0 : (tensor<4x64xf32>) -> tensor<4x64xf32>
        %2 = prim.neg %1 : (tensor<4x64xf32>) -> tensor<4x64xf32>
        %3 = prim.reshape %2 : (tensor<4x64xf32>) -> tensor<32x8xf32>
        %4 = prim.add %3, %3 : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>

    becomes

        %4 = prim.add %x, %x : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
  }];
  let options = [
    Option<"keepFactors", "keep-factors", "bool", "false", "What scales an operand of a product stays there, where it keeps sums in the range of f16">
  ];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def RoundContractionsPass : Pass<"round-contractions", "::mlir::func::FuncOp"> {
  let summary = "Stores what contractions read and give in 16-bit floats (mixed precision)";
  let description = [{
    Matrix products, convolutions and attentions of f32 read their factors rounded to bf16 or f16, sum in f32 and give their
    results rounded. Everything between is computed in f32: normalisations, functions, reductions, the loss. What
    is rounded for a contraction is so for all that read it, and kept in 16 bits alone; but for an argument of the function and
    a sum, which are more exact for others: parameters, which an optimizer updates in f32, and
    residual connections; and for what others compare with other values (the greatest of some, which a gradient looks for
    among them), or of which they compute a steep function (a logarithm, an exponential). A product that leads to no other contraction gives the f32 of its sums, as do
    gradients of weights. What is averaged by rounded probabilities of a softmax is divided by their sum. A product of full precision
    stays as it is, and so does one that adds nothing up.

        %y = prim.dot_general %x, %w ... : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>

    becomes, with %x and %w converted to bf16 where they are computed,

        %0 = prim.dot_general %xb, %wb ... : (tensor<8x16xbf16>, tensor<16x4xbf16>) -> tensor<8x4xbf16>
        %y = prim.convert %0 : (tensor<8x4xbf16>) -> tensor<8x4xf32>

    Micikevicius et al., "Mixed Precision Training", 2018; in bf16 gradients need no loss scale: it has the exponents
    of f32 (Kalamkar et al., "A Study of BFLOAT16 for Deep Learning Training", 2019).
  }];
  let options = [Option<"type", "type", "std::string", "\"bf16\"", "bf16 or f16">];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def RecognizeAttentionPass : Pass<"recognize-attention", "::mlir::func::FuncOp"> {
  let summary = "Makes whole attentions of their parts, and masks that are known into none";
  let description = [{
    For targets whose library runs attention whole. Of products around a softmax over the keys, with a scale and
    masks between, nn.attention is made where nothing else reads scores or weights. Masks that are
    computed from constants are evaluated: one that hides nothing goes, one that hides s > t alone becomes
    `causal`. Runs on what the import gives, before the derivative.

    Values stay the same up to rounding where scores are numbers below 1e22: then the lowest finite float hides as
    -inf does, and a guard against weights that are no numbers has nothing to do. Where a row may be hidden
    entirely such a number stays what it is. Models in 16-bit floats round scores between ops, as nn.attention does
    not; with `widen-scores` these are recognised too.

        %0 = nn.matmul %q, %kt : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
        %1 = prim.mul %0, %quarter : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
        %2 = nn.softmax %1 {dimension = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
        %y = nn.matmul %2, %v : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>

    becomes

        %y = nn.attention %q, %k, %v {causal = false, scale = 2.500000e-01 : f64} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  }];
  let options = [
    Option<"widenScores", "widen-scores", "bool", "false", "Also where scores of 16-bit floats are then rounded less often than the model rounds them">,
    Option<"onlyUnmasked", "only-unmasked", "bool", "false", "Not those with a mask that is not known to be causal">,
    Option<"onlyHalf", "only-half", "bool", "false", "Only those of 16-bit floats">
  ];
  let dependentDialects = ["::accc::prim::PrimDialect", "::accc::nn::NnDialect"];
}

#endif
