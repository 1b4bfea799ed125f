// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composite operators become primitives, and these fewer. Free of any target.
#ifndef ACCC_TRANSFORMS_PASSES
#define ACCC_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

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
    over the results of smaller ones. What is added to the greatest element of a large window is
    scattered to where that is.

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
    are not reordered, and no rule assumes that numbers are finite.

        %0 = prim.reshape %x : (tensor<32x8xf32>) -> tensor<4x64xf32>
        %1 = prim.neg %0 : (tensor<4x64xf32>) -> tensor<4x64xf32>
        %2 = prim.neg %1 : (tensor<4x64xf32>) -> tensor<4x64xf32>
        %3 = prim.reshape %2 : (tensor<4x64xf32>) -> tensor<32x8xf32>
        %4 = prim.add %3, %3 : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>

    becomes

        %4 = prim.add %x, %x : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
  }];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def RoundContractionsPass : Pass<"round-contractions", "::mlir::func::FuncOp"> {
  let summary = "Stores what contractions read and give in bfloat16 (mixed precision)";
  let description = [{
    Matrix products and convolutions of f32 read their factors rounded to bf16, sum in f32 and give their
    results rounded. Everything between is computed in f32: normalisations, functions, reductions, the loss. What
    is rounded for a contraction is so for all that read it, and kept in 16 bits alone; but for an argument of the function and
    a sum, which are more exact for others: parameters, which an optimizer updates in f32, and
    residual connections. A product that leads to no other contraction gives the f32 of its sums, as do
    gradients of weights. A product of full precision stays as it is, and so does one that adds nothing up.

        %y = prim.dot_general %x, %w ... : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>

    becomes, with %x and %w converted to bf16 where they are computed,

        %0 = prim.dot_general %xb, %wb ... : (tensor<8x16xbf16>, tensor<16x4xbf16>) -> tensor<8x4xbf16>
        %y = prim.convert %0 : (tensor<8x4xbf16>) -> tensor<8x4xf32>

    Micikevicius et al., "Mixed Precision Training", 2018; in bf16 gradients need no loss scale: it has the exponents
    of f32 (Kalamkar et al., "A Study of BFLOAT16 for Deep Learning Training", 2019).
  }];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

#endif
