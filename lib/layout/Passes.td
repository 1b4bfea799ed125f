// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the tensors of convolutions and contractions lie in memory.
#ifndef ACCC_LAYOUT_PASSES
#define ACCC_LAYOUT_PASSES

include "target/TargetedPass.td"

def LayOutVariablesPass : TargetedPass<"lay-out-variables", "::mlir::ModuleOp", [Tf32Option]> {
  let summary = "Keeps the filters of convolutions, and their optimizer state, as the library reads them";
  let description = [{
    Where a library wants filters channels last (Target::getConvolutionLayout), a variable lies so in memory
    if all functions that read or write it can follow: convolutions that it is the filter of, and ops that compute
    the same in any order, such as the optimizer's. A parameter and its optimizer state go together. Any
    other reader keeps them as users see them, and convolutions get a transposed copy.

    The argument becomes the tensor that lies in memory, its attribute `accc.order` says in which order the
    dimensions stand there, and transposes at the function's edges, which LayOutConvolutions takes away, keep the
    rest as it was:

        func.func @eval_step(%w: tensor<8x3x5x5xf32>, ...) {
          %y = prim.convolution %x, %w ...

    becomes

        func.func @eval_step(%w: tensor<8x5x5x3xf32> {accc.order = array<i64: 0, 2, 3, 1>}, ...) {
          %0 = prim.transpose %w {permutation = array<i64: 0, 3, 1, 2>} ... -> tensor<8x3x5x5xf32>
          %y = prim.convolution %x, %0 ...}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def LayOutConvolutionsPass : TargetedPass<"lay-out-convolutions", "::mlir::func::FuncOp", [Tf32Option]> {
  let summary = "Assigns channels-last layouts to convolutions and the ops between them";
  let description = [{
    Where the library prefers it (Target::getConvolutionLayout), convolutions read and write channels-last (NHWC)
    activations, and filters as the library wants them. The ops between convolutions (pointwise ops,
    reductions, pooling, slices) get the layout for which the transposes move the fewest bytes: a minimum cut.
    Arguments and results of the function keep their layout.

        %0 = prim.convolution %x, %w {...} : (tensor<8x3x16x16xf32>, tensor<4x3x3x3xf32>) -> tensor<8x4x16x16xf32>
        %1 = prim.neg %0 : (tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
        %2 = prim.convolution %1, %v {...} : (tensor<8x4x16x16xf32>, tensor<4x4x3x3xf32>) -> tensor<8x4x16x16xf32>

    becomes

        %t = prim.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<8x3x16x16xf32>) -> tensor<8x16x16x3xf32>
        %0 = prim.convolution %t, %w {channels_last = true, ...} -> tensor<8x16x16x4xf32>
        %1 = prim.neg %0 : (tensor<8x16x16x4xf32>) -> tensor<8x16x16x4xf32>
        %3 = prim.convolution %1, %v {channels_last = true, ...} -> tensor<8x16x16x4xf32>
        %2 = prim.transpose %3 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<8x16x16x4xf32>) -> tensor<8x4x16x16xf32>
  }];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def ExpandAttentionPass : TargetedPass<"expand-attention"> {
  let summary = "Makes contractions of attentions that no library runs whole";
  let description = [{
    An attention stays one op if the target's library runs it (Target::runsInLibrary): if it has 16-bit floats and a
    number of features that the library's kernels support. Any other becomes products, a mask and a softmax. The
    gradient computes the weights again from queries and keys; --simplify then merges these with the weights of the
    forward pass.

        %y, %stats = prim.attention %q, %k, %v {causal = false, scale = 1.250000e-01 : f64} ...

    becomes

        %0 = prim.dot_general %q, %k ...
        %1 = prim.mul %0, %scale
        ...
        %p = prim.div %exps, %sums
        %y = prim.dot_general %p, %v ...}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def ViewAttentionOperandsPass : TargetedPass<"view-attention-operands"> {
  let summary = "Lets attentions read and write parts of tensors where they lie";
  let description = [{
    A library's attention reads and writes each head of each position by strides. The pass therefore removes transposes,
    reshapes and slices before an attention, and transposes, reshapes and concatenations of gradients after it if these
    lead to one value: the attention becomes one of views (prim.strided_attention). Sums on the way, such as the
    gradients of biases, read what the attention writes. Slices stay if they cover less than the tensor that they are
    taken from, which would have to be kept in memory for them. Everything stays if the library cannot read the views
    (Target::runsInLibrary), because rows are not aligned.

        %qkv = prim.dot_general %x, %w ... -> tensor<8x96x1536xbf16>
        %0 = prim.slice %qkv {limits = array<i64: 8, 96, 512>, starts = array<i64: 0, 0, 0>, ...}
        %q = prim.reshape %0 : (tensor<8x96x512xbf16>) -> tensor<8x96x8x64xbf16>
        ...                                                // %k, %v
        %y, %stats = prim.attention %q, %k, %v ...

    becomes

        %y, %stats = prim.strided_attention %qkv, %qkv, %qkv {views = [
            memref<8x96x8x64xbf16, strided<[147456, 1536, 64, 1]>>,
            memref<8x96x8x64xbf16, strided<[147456, 1536, 64, 1], offset: 512>>, ...

    Runs after --expand-attention, which leaves the attentions that the library runs, and before the passes that lay out
    products, which may turn what is read here into views.
  }];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def LayOutContractionsPass : TargetedPass<"lay-out-contractions"> {
  let summary = "Brings the operands of contractions into layouts that matrix libraries accept";
  let description = [{
    Afterwards every dot_general has at most four batch dimensions, and in each operand the free dimensions
    collapse into one, the contracted ones into another, and one of the two is contiguous. Other operands
    are copied by a transpose.

        %0 = prim.dot_general %x, %y {lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>, ...}
            : (tensor<2x3x4xf32>, tensor<3x5xf32>) -> tensor<2x4x5xf32>

    becomes, since %x's free dimensions 0 and 2 do not collapse,

        %t = prim.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
        %0 = prim.dot_general %t, %y {lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 0>, ...}
            : (tensor<2x4x3xf32>, tensor<3x5xf32>) -> tensor<2x4x5xf32>
  }];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def SplitFactorizationsPass : TargetedPass<"split-factorizations"> {
  let summary = "Factors large matrices, and solves large triangular systems, by blocks";
  let description = [{
    A kernel factors one matrix without help from other kernels. If a matrix has two blocks or more
    (Target::getFactorizationBlock), kernels factor the blocks on the diagonal only, and the rest are matrix products in
    full precision, which a library runs.

        %x = prim.triangular_solve %a, %b {...} : (tensor<1x64x64xf32>, tensor<1x64x9xf32>) -> tensor<1x64x9xf32>

    becomes, of a lower triangle and blocks of 32,

        %x0 = prim.triangular_solve %a00, %b0 {...} : (tensor<1x32x32xf32>, tensor<1x32x9xf32>) -> tensor<1x32x9xf32>
        %p = prim.dot_general %a10, %x0 {...} : (tensor<1x32x32xf32>, tensor<1x32x9xf32>) -> tensor<1x32x9xf32>
        %r = prim.sub %b1, %p : (tensor<1x32x9xf32>, tensor<1x32x9xf32>) -> tensor<1x32x9xf32>
        %x1 = prim.triangular_solve %a11, %r {...} : (tensor<1x32x32xf32>, tensor<1x32x9xf32>) -> tensor<1x32x9xf32>
        %x = prim.concatenate %x0, %x1 {dimension = 1} -> tensor<1x64x9xf32>
  }];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def PadContractionsPass : TargetedPass<"pad-contractions", "::mlir::func::FuncOp", [Tf32Option]> {
  let summary = "Pads matrices so that their rows begin at aligned addresses, where a library is faster so";
  let description = [{
    Matrix products can be slower if the extent of a row is not a multiple of some number of elements
    (Target::getContractionAlignment). Operands are then padded with zeros, and results are sliced to their old shape, if
    that moves fewer bytes than could be moved in the time saved. An example are the logits of a vocabulary of 50257 words,
    and both products with their gradient. Kernels read and write the padded matrices directly.

        %0 = prim.dot_general %x, %w {...} : (tensor<8192x768xf32>, tensor<50257x768xf32>) -> tensor<8192x50257xf32>

    becomes

        %p = prim.pad %w, %zero {low = [0, 0], high = [7, 0], ...} -> tensor<50264x768xf32>
        %1 = prim.dot_general %x, %p {...} : (tensor<8192x768xf32>, tensor<50264x768xf32>) -> tensor<8192x50264xf32>
        %0 = prim.slice %1 {starts = [0, 0], limits = [8192, 50257], ...} -> tensor<8192x50257xf32>
  }];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def PackOperandsPass : TargetedPass<"pack-operands"> {
  let summary = "Packs a matrix that many small matrix products share into column panels, once per step";
  let description = [{
    Matrix products with few rows that share their right operand, a matrix [k, n] or [n, k], read it from panels
    of 16 to 64 columns, [n / width, k, width]. One transpose packs it for all of them; a library would
    pack it again in every call. The schedule passes the product to the library as
    a batch of one product per panel, which the runtime runs as one call.

        %0 = prim.dot_general %x, %w {...} : (tensor<2x96xf32>, tensor<192x96xf32>) -> tensor<2x192xf32>
        ...                                  // and more products by %w

    becomes

        %r = prim.reshape %w : (tensor<192x96xf32>) -> tensor<3x64x96xf32>
        %p = prim.transpose %r {permutation = array<i64: 0, 2, 1>} : (tensor<3x64x96xf32>) -> tensor<3x96x64xf32>
        %1 = prim.dot_general %x, %p {...} : (tensor<2x96xf32>, tensor<3x96x64xf32>) -> tensor<2x3x64xf32>
        %0 = prim.reshape %1 : (tensor<2x3x64xf32>) -> tensor<2x192xf32>
        ...                                  // the others read %p, too
  }];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

#endif
