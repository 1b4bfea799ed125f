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
    A matrix product whose result is large, and all ops that large tensors connect with it (the scores, maxima,
    exponentials, sums and weights of an attention, and the products that read these), are cut along one of their
    dimensions: all of it for the first chunk, then for the next. Large tensors then exist as chunks only, which
    stay in a cache. What the backward pass reads of the forward pass it computes again in its own chunks, but for
    small values, which are kept (Dao et al., "FlashAttention", 2022, does so in one kernel). A product that sums
    over the dimension is the sum of those of the chunks.

        %s = prim.dot_general %q, %k -> [8, 4096, 4096]      %q0 = prim.slice %q -> [8, 128, 64]
        %p = ... %s ...                                      %s0 = prim.dot_general %q0, %k -> [8, 128, 4096]
        %y = prim.dot_general %p, %v -> [8, 4096, 64]        %p0 = ... %s0 ...
                                                             %y0 = prim.dot_general %p0, %v -> [8, 128, 64]
                                                             %q1 = ...
                                                             %y = prim.concatenate %y0, %y1, ...

    Of the dimensions that pass through all the ops, the one is taken that leaves the smallest chunks, as long as
    what it costs (products again, parts of sums, large results put together) is less than what the tensors'
    memory takes to write and read. Masks and random numbers are computed in every chunk, and connect nothing. A fusion takes nothing of
    two chunks (`accc.chunk`).}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def FitMemoryPass : TargetedPass<"fit-memory", "::mlir::ModuleOp", [
    Option<"budget", "budget", "int64_t", "0", "Bytes that state, inputs, outputs and scratch of an entry may take">,
    Tf32Option]> {
  let summary = "Computes values again instead of keeping them, until every entry fits into a budget";
  let description = [{
    Of what the forward pass keeps for the backward pass, some is computed again just before it is read: the
    step that gave it is copied there (rematerialisation; Chen et al., "Training Deep Nets with Sublinear
    Memory Cost", 2016). A copied kernel computes this one value, from what it first read or from what it
    also gave and is still there: a normalisation's result from its input, mean and standard deviation. What
    it needs and is gone is computed again as well. Copies compute the same, but a sum in a kernel that
    gives less than the first may have another order. Where the last bit counts, such a sum is kept: a gradient
    looks for the elements that are equal to a maximum, and must find those that it was computed from.

    The choice is greedy: as long as more is live at a step than may be, the copy that frees most of what is
    too much, over most of such steps, for the cost that the target gives it.

        %p = prim.fusion ... (%s)                 %p = prim.fusion ... (%s)
        ... uses of %p                            ... uses of %p
        ... the memory of %p is needed            ...
        ... uses of %p                            %q = prim.fusion ... (%s)
                                                  ... uses of %q

    In the end a copied kernel becomes one with another that reads the same, or what it gives, if the entry fits
    then, too: the kernel that computes the gradient of a GELU reads its argument and gives its result as well,
    and what reads that runs behind it. Which will is not known when a value is chosen: of what is chosen as if all
    did, and as if none did, the cheaper is taken.

    Fails where an entry does not fit with everything computed again that can be.}];
  let dependentDialects = ["::accc::prim::PrimDialect", "::accc::exec::ExecDialect"];
}

#endif
