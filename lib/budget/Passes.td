// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A step fits into the memory that there is.
#ifndef ACCC_BUDGET_PASSES
#define ACCC_BUDGET_PASSES

include "target/TargetedPass.td"

def ComputeInChunksPass : TargetedPass<"compute-in-chunks", "::mlir::func::FuncOp", [
    Option<"leastBytes", "least-bytes", "int64_t", "0", "Tensors of fewer bytes than these, or than a chunk, are computed at once">,
    Option<"chunkBytes", "chunk-bytes", "int64_t", "0", "Bytes of a chunk (0: the target's answer)">,
    Option<"always", "always", "bool", "false", "Also where that costs more than it saves">,
    Tf32Option]> {
  let summary = "Computes large tensors between matrix products chunk by chunk";
  let description = [{
    The pass starts from a matrix product with a large result and collects all ops that large tensors connect with it:
    the scores, maxima, exponentials, sums and weights of an attention, and the products that read these. It cuts them
    along one of their dimensions, and computes all of them for the first chunk, then for the next. Large tensors then
    exist as chunks only, which stay in a cache. The backward pass computes what it reads of the forward pass again, in
    its own chunks, except for small values, which are kept. (Dao et al., "FlashAttention", 2022, do this in one kernel.)
    A product that sums over the dimension becomes the sum of the products of the chunks.

        %s = prim.dot_general %q, %k -> [8, 4096, 4096]      %q0 = prim.slice %q -> [8, 128, 64]
        %p = ... %s ...                                      %s0 = prim.dot_general %q0, %k -> [8, 128, 4096]
        %y = prim.dot_general %p, %v -> [8, 4096, 64]        %p0 = ... %s0 ...
                                                             %y0 = prim.dot_general %p0, %v -> [8, 128, 64]
                                                             %q1 = ...
                                                             %y = prim.concatenate %y0, %y1, ...

    Among the dimensions that pass through all the ops, the pass takes the one with the smallest chunks, as long as
    its cost (repeated products, partial sums, large results put together) is less than the time to write and read the
    tensors. Masks and random numbers are computed in every chunk, and connect nothing. A fusion never holds ops of
    two chunks (`accc.chunk`).}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def FitMemoryPass : TargetedPass<"fit-memory", "::mlir::ModuleOp", [
    Option<"budget", "budget", "int64_t", "0", "Bytes that state, inputs, outputs and scratch of an entry may take">,
    Tf32Option]> {
  let summary = "Computes values again instead of keeping them, until every entry fits into a budget";
  let description = [{
    Some of the values that the forward pass keeps for the backward pass are computed again just before they are read:
    the step that computed one is copied there (rematerialisation; Chen et al., "Training Deep Nets with Sublinear
    Memory Cost", 2016). A copied kernel computes this one value, from the original inputs or from other results of
    the original that are still in memory: a normalisation's result from its input, mean and standard deviation.
    Inputs that are gone are computed again as well. Copies compute the same values, except that a sum in a kernel with
    fewer results may be added in another order. Where the last bit counts, such a sum is kept: a gradient
    looks for the elements that are equal to a maximum, and must find those that it was computed from.

    The choice is greedy: as long as more is live at some step than the budget allows, the pass makes the copy that frees
    the most of the excess, over the most such steps, for the cost that the target gives it.

        %p = prim.fusion ... (%s)                 %p = prim.fusion ... (%s)
        ... uses of %p                            ... uses of %p
        ... the memory of %p is needed            ...
        ... uses of %p                            %q = prim.fusion ... (%s)
                                                  ... uses of %q

    In the end a copied kernel is merged with another kernel that reads the same values, or its result, if the entry
    still fits: the kernel that computes the gradient of a GELU reads its argument and gives its result as well,
    and what reads that runs after it. When a value is chosen it is not known which copies will be merged. The pass
    chooses once as if all were and once as if none were, and takes the cheaper plan.

    Fails if an entry does not fit even with everything computed again that can be.}];
  let dependentDialects = ["::accc::prim::PrimDialect", "::accc::exec::ExecDialect"];
}

#endif
