// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composite operators become primitives, and these fewer. Free of any target.
#ifndef ACCC_TRANSFORMS_PASSES
#define ACCC_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def FormAttentionPass : Pass<"form-attention", "::mlir::func::FuncOp"> {
  let summary = "Makes attentions primitives, which a library can run whole";
  let description = [{
    Runs before the derivative, so that the gradient is one op as well. That op needs the logarithm of each query's sum
    in place of the weights of the forward pass. A mask becomes a bias if it only hides keys: booleans, or floats that a
    select makes 0 or a number low enough to hide (not in f16, whose range is too small). Attentions with other masks,
    and those with a softcap, are decomposed like every composite. A gradient that the file holds itself
    (nn.attention_backward) becomes the gradient of an attention that is computed again, if there is no mask; --simplify
    merges that attention with the one of the file.

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
    A linear layer computes each row by itself, so the order of rows does not matter to it. Modules that want positions
    before the batch transpose their input and their output, with linear layers in between. If all readers of a layer's
    output transpose the rows back, the transpose before the layer moves behind it, where the two cancel. Runs before
    the derivative, whose products then need no transposes either, and after the passes that recognise attentions by
    their transposes.

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
    A kernel holds code for each element of a window. Windows of many elements are therefore split until each has few
    elements: into one window for each dimension, into blocks that are reduced first if windows do not overlap, or into
    windows over the results of smaller windows. Windows of several dimensions are also split if they overlap so much
    that each element is in more than 16 of them, as one dimension after the other reads less. The gradient of a
    maximum, which adds to the greatest element of each window, first adds to the row with the greatest element and then
    to the element in that row. If that code would have to name too many windows, the updates are scattered.

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
    Matrix products, convolutions and attentions of f32 read their factors rounded to bf16 or f16, sum in f32 and round
    their results. Everything in between is computed in f32: normalisations, functions, reductions, the loss.

    A value that is rounded for a contraction is rounded for all its readers, and only the 16 bits are kept. Exceptions,
    whose other readers see the f32 value:
    - an argument of the function: parameters, which an optimizer updates in f32;
    - a sum: residual connections;
    - a value that is compared with others (a gradient looks for the greatest of some values among them);
    - a value to which a steep function is applied (a logarithm, an exponential).

    A product that leads to no other contraction gives its sums in f32, as gradients of weights do. An average weighted by
    the rounded probabilities of a softmax is divided by their sum. A product of full precision stays as it is, and so does
    an outer product, which sums nothing.

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
  let summary = "Recognises attentions by their parts, and removes masks that are known";
  let description = [{
    For targets whose library runs attention whole. Two products around a softmax over the keys, with a scale and
    masks in between, become nn.attention if nothing else reads the scores or weights. Masks that are
    computed from constants are evaluated: a mask that hides nothing is removed, one that hides exactly s > t becomes
    `causal`. Runs on the imported graph, before the derivative.

    Values stay the same up to rounding if scores are below 1e22: then the lowest finite float hides as
    -inf does, and a guard against NaN weights has no effect. If a row may be hidden
    entirely, the finite number stays. Models in 16-bit floats round scores between ops, which nn.attention does
    not do; with `widen-scores` these are recognised, too.

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
