// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Primitives become kernels.
#ifndef ACCC_FUSION_PASSES
#define ACCC_FUSION_PASSES

include "target/TargetedPass.td"

def FuseEpiloguesPass : TargetedPass<"fuse-epilogues"> {
  let summary = "Adds the bias of a matrix product in the library call";
  let description = [{
    Where the target's library adds a bias before it stores a product, and nothing but the addition reads
    the product, the two become one op. No kernel then has to read and write the product for a bias alone.

        %0 = prim.dot_general %x, %w ... -> tensor<8x16xf32>
        %1 = prim.broadcast %b {dimensions = array<i64: 1>} -> tensor<8x16xf32>
        %2 = prim.add %0, %1

    becomes

        %2 = prim.dot_general_bias %x, %w, %b ... -> tensor<8x16xf32>

    The gradient of a bias, the sum of the result's gradient over its rows, stays a reduction: the kernel
    that makes the result's gradient has it in registers.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def SplitReductionsPass : TargetedPass<"split-reductions"> {
  let summary = "Reduces many elements to few in two steps";
  let description = [{
    A reduction that leaves few elements is done in parts first, which run on many threads and stay in their
    caches or registers, and the parts are reduced then. The outermost of the reduced dimensions make the parts:
    batch norm's statistics of each channel are those of each image's first. Deviations from a mean are first
    taken from the part's own mean.

    Sums over all rows, of what a kernel reduces along the rows as well, are those of strips of some rows first,
    which that kernel finds too: the gradients of a layer norm's scale and bias.

        %db = prim.reduce sum %dy {dimensions = [0]} : (tensor<8192x768xf32>) -> tensor<768xf32>

    becomes

        %s = prim.reshape %dy : (tensor<8192x768xf32>) -> tensor<512x16x768xf32>
        %p = prim.reduce sum %s {dimensions = [1]} : (tensor<512x16x768xf32>) -> tensor<512x768xf32>
        %db = prim.reduce sum %p {dimensions = [0]} : (tensor<512x768xf32>) -> tensor<768xf32>}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def FormFusionsPass : TargetedPass<"form-fusions"> {
  let summary = "Groups primitives into kernels";
  let description = [{
    Puts every op that is not a contraction, a reshape or a non-splat constant into a prim.fusion: first
    each producer into its consumer where one kernel can compute both, then neighbours that read the
    same. Then kernels compute pointwise values again that others would write to memory for them, where
    that is free: no more memory is live at any step, and fewer bytes are moved. Last, kernels are given
    the one piece of an input that they read, where it is one, and their KernelSpec.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def FuseHorizontallyPass : Pass<"fuse-horizontally", "::mlir::func::FuncOp"> {
  let summary = "Fuses the updates of many variables into one launch (multi-tensor apply)";
  let description = [{
    Fusions whose results are nothing but new values of variables, and that do the same elementwise
    arithmetic, become one `prim.fusion_each` with a segment for each of them: the optimizer over all
    parameters is one kernel. They cannot depend on each other, as no kernel reads what they compute.

        %w1 = prim.fusion loop "sgd" (%w, %dw, %lr) ...
        %b1 = prim.fusion loop "sgd" (%b, %db, %lr) ...

    becomes

        %w1, %b1 = prim.fusion_each "sgd" (%w, %dw, %lr, %b, %db, %lr) ...}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

#endif
