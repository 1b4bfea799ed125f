// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the tensors of convolutions and contractions lie in memory.
#ifndef ACCC_LAYOUT_PASSES
#define ACCC_LAYOUT_PASSES

include "target/TargetedPass.td"

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

def PackOperandsPass : TargetedPass<"pack-operands"> {
  let summary = "Packs a matrix that many small matrix products share into column panels, once per step";
  let description = [{
    Products of few rows that share their right operand, a matrix [k, n] or [n, k], read it from panels
    of 16 to 64 columns, [n / width, k, width], which one transpose makes for all of them. Such an operand
    is what a library would make by itself in every call. The schedule hands the product to the library as
    one for each panel; the runtime makes one of them.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

#endif
