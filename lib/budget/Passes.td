// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A step fits into the memory that there is.
#ifndef ACCC_BUDGET_PASSES
#define ACCC_BUDGET_PASSES

include "target/TargetedPass.td"

def FitMemoryPass : TargetedPass<"fit-memory", "::mlir::ModuleOp", [
    Option<"budget", "budget", "int64_t", "0", "Bytes that state, inputs, outputs and scratch of an entry may take">]> {
  let summary = "Computes values again instead of keeping them, until every entry fits into a budget";
  let description = [{
    Of what the forward pass keeps for the backward pass, some is computed again just before it is read: the
    step that gave it is copied there (rematerialisation; Chen et al., "Training Deep Nets with Sublinear
    Memory Cost", 2016). A copied kernel computes this one value, from what it first read or from what it
    also gave and is still there: a normalisation's result from its input, mean and standard deviation. What
    it needs and is gone is computed again as well. Copies compute the same, but a sum in a kernel that
    gives less than the first may have another order.

    The choice is greedy: as long as more is live at a step than may be, the copy that frees most bytes over
    most of such steps for the cost that the target gives it.

        %p = prim.fusion ... (%s)                 %p = prim.fusion ... (%s)
        ... uses of %p                            ... uses of %p
        ... the memory of %p is needed            ...
        ... uses of %p                            %q = prim.fusion ... (%s)
                                                  ... uses of %q

    Fails where an entry does not fit with everything computed again that can be.}];
  let dependentDialects = ["::accc::prim::PrimDialect", "::accc::exec::ExecDialect"];
}

#endif
