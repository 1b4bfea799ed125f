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

        %2 = prim.gemm %x, %w, %b ... -> tensor<8x16xf32>

    A wide result (`wide_result`) that is read rounded alone, with a bias that was rounded, is rounded by the
    library as well.

    The gradient of a bias, the sum of the result's gradient over its rows, stays a reduction: the kernel
    that makes the result's gradient has it in registers.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def ViewContractionOperandsPass : TargetedPass<"view-contraction-operands"> {
  let summary = "Lets matrix products read parts of tensors where they lie";
  let description = [{
    A library's product reads both factors by strides. A factor that transposes, reshapes and slices take out of a value
    needs no copy then: the product becomes one of views (prim.gemm).

        %qkv = prim.gemm %x, %w, %b ... -> tensor<64x197x2304xf32>
        %0 = prim.slice %qkv {limits = array<i64: 64, 197, 768>, starts = array<i64: 0, 0, 0>, ...}
        %q = prim.reshape %0 : (tensor<64x197x768xf32>) -> tensor<64x197x12x64xf32>
        ...                                                // %k
        %scores = prim.dot_general %q, %k {lhs_batch = array<i64: 0, 2>, lhs_contracting = array<i64: 3>, ...}

    becomes

        %scores = prim.gemm %qkv, %qkv {views = [
            memref<64x197x12x64xf32, strided<[453888, 2304, 64, 1]>>,
            memref<64x197x12x64xf32, strided<[453888, 2304, 64, 1], offset: 768>>], ...}

    The value has to be kept in memory for them then. It must therefore be an argument, which is there anyway, or have
    no more elements than the copies that are no longer made. A copy is made as before if another op needs it, or if
    the library does not read the view, or not as fast (Target::runsInLibrary).

    Runs when kernels are about to be formed: all other passes see products of whole tensors, which can be
    computed in chunks, and biases have found their products.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def SplitReductionsPass : TargetedPass<"split-reductions"> {
  let summary = "Reduces many elements to few in two steps";
  let description = [{
    A reduction to few elements is split: partial results are reduced in parallel, in the threads' caches or
    registers, and a second reduction combines them. The outermost reduced dimensions form the parts: the batch
    norm statistics of a channel are reduced per image first. Variances first use the mean of each
    part (Chan et al.'s parallel algorithm).

    The place of the greatest or least element of a long line is that in the first part that has it.

    Where a kernel reduces along the rows of a tensor, sums over all of its rows are first reduced within strips
    of rows, so that the same kernel computes them: the gradients of a layer norm's scale and bias.

        %db = prim.reduce sum %dy {dimensions = [0]} : (tensor<8192x768xf32>) -> tensor<768xf32>

    becomes

        %s = prim.reshape %dy : (tensor<8192x768xf32>) -> tensor<512x16x768xf32>
        %p = prim.reduce sum %s {dimensions = [1]} : (tensor<512x16x768xf32>) -> tensor<512x768xf32>
        %db = prim.reduce sum %p {dimensions = [0]} : (tensor<512x768xf32>) -> tensor<768xf32>}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def InvertScattersPass : TargetedPass<"invert-scatters"> {
  let summary = "Makes gathers of scatters by known indices";
  let description = [{
    Which updates a row gets is known where the indices are: those of a resized image's gradient, of a fixed
    permutation, of the pairs of a matrix's triangle. Where no row gets many, each row reads its own, in their order,
    in a kernel like any other, which fuses with what reads it and what gives the updates. More than eight updates a row
    are one gather of them all, and a sum over those of each row.

        %i = prim.constant dense<[0, 0, 2]>
        %r = prim.scatter %zeros, %i, %updates {axis = 0, kind = add} : ... -> tensor<3x8xf32>

    becomes

        %first = prim.gather %updates, (0, 0, 2) {axis = 0}
        %second = prim.gather %updates, (1, 0, 0) {axis = 0}
        %count = prim.constant dense<[2, 0, 1]>
        %r = select(%count > 0, %first, 0) + select(%count > 1, %second, 0)

    An index that is out of range keeps the scatter, which reports it.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def CompareScattersPass : TargetedPass<"compare-scatters"> {
  let summary = "Adds few updates to each line by comparing places";
  let description = [{
    The gradient of an op that takes elements along a dimension (the greatest of each row, the score of each row's class)
    adds a few updates to each line, at places that are known to be in the line. If there are no more of them than the
    target allows, each element compares its own place with those of the updates. This is a kernel like any other, which
    fuses with what reads the gradient, and no update has to be searched for.

        %i = ... %place + 1000 * (0, 1, 2, ...) : tensor<64xi64>
        %r = prim.scatter %zeros, %i, %updates {axis = 0, kind = add} : ... -> tensor<64000xf32>

    becomes

        %p = prim.broadcast %place {dimensions = [0]} : (tensor<64xi32>) -> tensor<64x1000xi32>
        %u = prim.broadcast %updates {dimensions = [0]} : (tensor<64xf32>) -> tensor<64x1000xf32>
        %here = prim.compare eq (prim.iota {dimension = 1}), %p
        %r = %zeros + prim.select %here, %u, 0

    With several updates a line, the last op is a sum over these. Indices out of range are only reported by a gather of
    the same indices: without one, the scatter stays if a place may be outside of its line. It also stays for
    the places of whole sorted lines, where each element has one update.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def IndexRowsPass : Pass<"index-rows", "::mlir::func::FuncOp"> {
  let summary = "Turns gathers and scatters whose indices name each element of a row into ones of whole rows";
  let description = [{
    Graph libraries repeat an index along one dimension over all dimensions after it
    (index.unsqueeze(-1).expand(-1, columns)). In prim this is an index for each element of flat data. The pass makes it
    an index for each row: fewer indices are checked, sorted and searched, and the elements of a row are contiguous.

        %place = prim.broadcast %rows {dimensions = [0]} : (tensor<1000xi64>) -> tensor<1000x64xi64>
        %i = 64 * %place + prim.iota {dimension = 1}
        %r = prim.scatter %zeros, %i, %updates {axis = 0, kind = add} : ... -> tensor<6400xf32>

    becomes

        %r = prim.scatter %zeros, %rows, %updates {axis = 0, kind = add} : ... -> tensor<100x64xf32>

    A scatter with one index a line stays as it is: a later pass, compare-scatters, computes its gradient without a
    scatter. The index of a row is computed from that of its first element.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def SortScattersPass : TargetedPass<"sort-scatters"> {
  let summary = "Sorts the indices of scatters of many updates";
  let description = [{
    Two tasks must not update an element at once. The kernel therefore gives each task some rows, and the task looks
    through all indices for their updates: rows times updates. If the target is faster that way, the pass sorts the indices
    first, stably, and reads the updates in that order. Every task then finds its updates by a binary search, and
    applies them in their original order.

    Scatters by the same indices share the sorted ones. Indices that are known are sorted at compile time. If the indices
    are the places that a sort gave, each row gets one update, and no order is needed (`unique_indices`). If the indices
    are places along lines of the data, as in the gradient of a gather along one dimension, the indices of each line
    are sorted by themselves, by a block of threads, and the lines of the data are laid out one after the other. This needs
    places that another op checks, as a place outside of its line would belong to another line.

        %r = prim.scatter %zeros, %indices, %updates {axis = 0, kind = add}

    becomes

        %sorted, %order = prim.sort %indices {dimension = 0, descending = false}
        %ordered = prim.gather %updates, %order {axis = 0}
        %r = prim.scatter %zeros, %sorted, %ordered {axis = 0, kind = add, indices_are_sorted}
  }];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def SplitSortsPass : TargetedPass<"split-sorts"> {
  let summary = "Sorts long lines in runs, and merges these";
  let description = [{
    A line that is too long for the memory in which the target's kernels sort is cut into runs of equal length; the last
    one is padded with the value that sorts last. Merging doubles the runs until there is one. At the end the origin of
    each element is followed through all of these ops. If only the first few elements of a line are wanted, each run
    gives as many, and these are sorted again, without merges.

        %v, %i = prim.sort %x : (tensor<1x8192xf32>) -> (tensor<1x8192xf32>, tensor<1x8192xi64>)

    becomes, with at most 4096 elements at once,

        %0 = prim.reshape %x : (tensor<1x8192xf32>) -> tensor<1x2x4096xf32>
        %1, %2 = prim.sort %0 {dimension = 2} : (tensor<1x2x4096xf32>) -> (tensor<1x2x4096xf32>, tensor<1x2x4096xi64>)
        %v, %from = prim.merge %1 {dimension = 1, run = 4096} : (tensor<1x8192xf32>) -> (tensor<1x8192xf32>, tensor<1x8192xi64>)
        %i = ... %2 at %from, places in a run made those in the line}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def SplitScansPass : TargetedPass<"split-scans"> {
  let summary = "Scans long lines in runs, which start where the runs before them end";
  let description = [{
    A running sum (or product, maximum, minimum) along few long lines leaves most of a GPU idle. Where the target
    wants it, a line is cut into runs of equal length, the last one filled up with zeros that nobody reads. Sums of
    whole runs, and a running sum of these, give what each run starts with: its first element is that plus its own.
    Everything is read twice and written once.

        %y = prim.cumulative sum %x {dimension = 0} : (tensor<8192xf32>) -> tensor<8192xf32>

    becomes, with runs of 512 elements,

        %0 = prim.reshape %x : (tensor<8192xf32>) -> tensor<16x512xf32>
        %1 = prim.reduce sum %0 {dimensions = [1]} : (tensor<16x512xf32>) -> tensor<16xf32>
        %2 = prim.cumulative sum %1 {dimension = 0} : (tensor<16xf32>) -> tensor<16xf32>
        %3 = ... %2, one run later
        %4 = ... %0, and %3 added to the first element of every run but the first
        %5 = prim.cumulative sum %4 {dimension = 1} : (tensor<16x512xf32>) -> tensor<16x512xf32>
        %y = prim.reshape %5

    Of floats of fewer than 32 bits more is accumulated than what a run's sum would store: these stay whole.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def ComputeCountsPass : TargetedPass<"compute-counts"> {
  let summary = "Computes constants that count in the kernels that read them";
  let description = [{
    Integer constants whose elements are their index along one dimension become prim.iota where kernels
    alone read them and the target has them sooner computed than read: positions, of which causal
    attention makes its mask in every softmax.

        %0 = prim.constant dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>

    becomes

        %0 = prim.iota {dimension = 1 : i64} : () -> tensor<1x4xi64>}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def FormFusionsPass : TargetedPass<"form-fusions"> {
  let summary = "Groups primitives into kernels";
  let description = [{
    Puts every op that is not a contraction, a reshape or a non-splat constant into a prim.fusion. First producers are
    fused with their consumers where one kernel can compute both, then siblings that read the same tensor. A large value
    that takes several ops and is repeated for a few neighbours each stays in memory: a kernel would compute it one
    element at a time. Where the target asks for it, small independent reductions of one shape become one kernel
    whatever they read: the second steps of sums that were split. Cheap pointwise values are then recomputed in the
    kernels that read them instead of being stored, where that moves fewer bytes and keeps no more memory live at any
    step. Last, inputs of which a kernel reads only one slice are narrowed to it, and each kernel gets its KernelSpec
    (`walks`).

        %0 = prim.add %x, %y : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
        %1 = prim.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
        %2 = prim.neg %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>

    becomes

        %2 = prim.fusion loop "add_transpose_neg"(%x, %y) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x8xf32>
            walks <extents = [4, 8], ..., accesses = (d0, d1) -> (d0 + d1 * 4, d1 + d0 * 8)> {
        ^bb0(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>):
          %3 = prim.add %a, %b
          %4 = prim.transpose %3 {permutation = array<i64: 1, 0>}
          %5 = prim.neg %4
          prim.yield %5
        }
  }];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def FuseHorizontallyPass : Pass<"fuse-horizontally", "::mlir::func::FuncOp"> {
  let summary = "Fuses the updates of many variables, their rounding, and what is sent at once into one launch each (multi-tensor apply)";
  let description = [{
    Fusions whose results are nothing but new values of variables, and that do the same elementwise
    arithmetic, become one `prim.fusion_each` with a segment for each of them: the optimizer over all
    parameters is one kernel. They cannot depend on each other, as no kernel reads what they compute.

        %w1 = prim.fusion loop "sgd" (%w, %dw, %lr) ...
        %b1 = prim.fusion loop "sgd" (%b, %db, %lr) ...

    becomes

        %w1, %b1 = prim.fusion_each "sgd" (%w, %dw, %lr, %b, %db, %lr) ...

    So do fusions that read nothing but arguments of the function and write less than these: parameters that are rounded to
    16 bits. Their kernel stands where the first of them stood. So do those whose results one collective alone reads, as
    gradients that are widened before processes average them; their kernel stands before it.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def CombineCollectivesPass : TargetedPass<"combine-collectives"> {
  let summary = "Exchanges gradients in buckets, as soon as these are computed";
  let description = [{
    Collectives of one sort and one element type that no other waits for are combined until a bucket is as large
    as the target likes, gradients of the last parameters first, which the backward pass computes first. Those in the
    middle of the step, such as statistics of a batch norm, stay single, in the order of the model. Each bucket then stands right behind the last kernel that it waits for, and behind the bucket before it:
    the kernels that follow, of the rest of the backward pass, run while it is under way. Their readers wait for the
    whole bucket. What is sent in which order does not depend on the kernels: processes with batches of other sizes run
    others.

        %dw2 = prim.fusion "..." ...
        %dw1 = prim.fusion "..." ...
        %a2 = prim.all_reduce %dw2
        %a1 = prim.all_reduce %dw1

    becomes

        %dw2 = prim.fusion "..." ...
        %dw1 = prim.fusion "..." ...
        %a:2 = prim.all_reduce %dw2, %dw1}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

#endif
