// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes between a trainable model and its schedule.
#ifndef ACCC_FUSION_PASSES
#define ACCC_FUSION_PASSES

include "mlir/Pass/PassBase.td"

// A pass whose choices depend on the machine, which it asks `Target` about (target/TargetedPass.h).
class TargetedPass<string argument> : Pass<argument, "::mlir::func::FuncOp"> {
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "The target, as --target of accc names it">,
    ListOption<"archs", "arch", "std::string", "The machines of the target (default: the target's default)">
  ];
}

def DecomposePass : Pass<"decompose", "::mlir::func::FuncOp"> {
  let summary = "Replaces composite operators by primitives";
  let description = [{
    Asks every op for its decomposition until none is left that has one. Fails, naming each op, if an op
    of `nn` remains.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def SimplifyPass : Pass<"simplify", "::mlir::func::FuncOp"> {
  let summary = "Algebra on primitives, constant folding, common subexpressions, dead code";
  let description = [{
    Composes views, drops what does nothing, evaluates what is known. Keeps values up to rounding: sums
    are not reordered, and no rule assumes that numbers are finite.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def LayOutConvolutionsPass : TargetedPass<"lay-out-convolutions"> {
  let summary = "Convolutions channels last, with what is computed between them";
  let description = [{
    Every convolution prefers to read and write activations channels last; what lies between convolutions
    (pointwise ops, reductions, pooling, slices) follows where that moves fewer bytes than transposing would:
    a minimum cut. Arguments and results of the function keep their layout, so do weights.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def LayOutContractionsPass : TargetedPass<"lay-out-contractions"> {
  let summary = "Makes the operands of contractions readable for matrix libraries";
  let description = [{
    Afterwards every dot_general has at most four batch dimensions, and in each operand the free dimensions
    can be walked as one, the contracted ones as another, and one of the two is contiguous. What is not
    so is copied by a transpose.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def SplitReductionsPass : TargetedPass<"split-reductions"> {
  let summary = "Sums over many rows of few columns in two steps";
  let description = [{
    A reduction over the leading dimensions that leaves few elements is done in parts first, which run on
    many threads and stay in their caches, and the parts are reduced then. Deviations from a mean are first
    taken from the part's own mean.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def PackOperandsPass : TargetedPass<"pack-operands"> {
  let summary = "Lays a matrix that many products of few rows read out for them once";
  let description = [{
    Products of few rows that share their right operand, a matrix [k, n] or [n, k], read it from panels
    of 16 to 64 columns, [n / width, k, width], which one transpose makes for all of them. Such an operand
    is what a library would make by itself in every call. The schedule hands the product to the library as
    one for each panel; the runtime makes one of them.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def FormFusionsPass : TargetedPass<"form-fusions"> {
  let summary = "Groups primitives into kernels";
  let description = [{
    Puts every op that is not a contraction, a reshape or a non-splat constant into a prim.fusion: first
    each producer into its consumer where one kernel can compute both, then neighbours that read the
    same. Then kernels compute pointwise values again that others would write to memory for them, where
    that is free: no more memory is live at any step, and fewer bytes are moved.}];
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
