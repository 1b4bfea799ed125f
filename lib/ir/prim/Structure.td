// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_STRUCTURE
#define ACCC_IR_PRIM_STRUCTURE

include "ir/prim/PrimDialect.td"

def Prim_OptimizationBarrierOp
    : Op<Prim_Dialect, "optimization_barrier",
         Prim_HasGradient # Prim_Infers # [DeclareOpInterfaceMethods<Evaluable>,
                                           DeclareOpInterfaceMethods<Fusible>]> {
  let summary = "the operand, which nothing is simplified, shared or fused across";
  let description = [{
    Stands between the model and the optimizer, at everything that the optimizer reads: gradients, parameters, its
    state, the learning rate. What is in front of it, and what is behind, then becomes the same kernels whether
    both are in one step (train_step) or in two (grad_step and apply_step), and rounds the same; fusion knows by
    it what belongs to the optimizer. It has an effect as far as
    MLIR knows, so that two of one operand stay two; fusion removes it.}];
  let arguments = (ins Prim_Tensor:$operand);
  let results = (outs Prim_Tensor:$result);
  let extraClassDeclaration = [{
    static constexpr ::accc::FusionClass kFusionClass = ::accc::FusionClass::Opaque;
  }];
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Prim_FusionOp : Op<Prim_Dialect, "fusion", [IsolatedFromAbove, SingleBlock, Pure]> {
  let summary = "ops that run as one kernel";
  let description = [{
    The region's arguments are the operands; it ends in `prim.yield` of the results. `kind` says how it walks
    its data, and with that its emitter; `spec` says the rest of what the emitter has to know. `name` says
    what the kernel does, for profiles.

    fusion_c1: the region's arguments have the types of the inputs.
    fusion_c2: the region ends in prim.yield.
    fusion_c3: the types yielded are those of the results.
    fusion_c4: with a spec: the results of a loop kernel have one shape; the reductions of a reduce kernel
    have operands of one shape and the same dimensions, and its results that shape or theirs, but for
    reductions of strips of rows (KernelReductions), which are nothing but results; `levels` and `depths` have
    an entry for each reduction and each result.}];
  let arguments = (ins Variadic<Prim_Tensor>:$inputs, Prim_KernelKindAttr:$kind, StrAttr:$name,
                       OptionalAttr<Prim_KernelSpecAttr>:$spec);
  let results = (outs Variadic<Prim_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $kind $name `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs) (`walks` $spec^)? $body}];
}

def Prim_FusionEachOp : Op<Prim_Dialect, "fusion_each", [IsolatedFromAbove, SingleBlock, Pure]> {
  let summary = "one elementwise kernel over several segments: horizontal fusion, multi-tensor apply";
  let description = [{
    The region computes on flat tensors of any number of elements: its arguments and results have rank 1 and
    the extent `kAnyExtent`, which stands for the number of elements of a segment, or (arguments only) rank 0.
    `inputs` are the region's arguments for the first segment, then for the second, ...; `outputs` likewise.
    Segments are independent and run at the same time, as one launch.

    fusion_each_c1: inputs and outputs are the region's, the same number of times.
    fusion_each_c2: within a segment, what stands for a flat tensor has the segment's number of elements; what
    stands for rank 0 has rank 0; element types are those of the region.
    fusion_each_c3: the region ends in prim.yield of flat tensors, and holds pointwise ops, broadcasts of
    rank 0 and splat constants.}];
  let arguments = (ins Variadic<Prim_Tensor>:$inputs, StrAttr:$name);
  let results = (outs Variadic<Prim_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = "$name `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs) $body";
  let extraClassDeclaration = [{
    /// The extent that stands for any in the region.
    static constexpr int64_t kAnyExtent = int64_t(1) << 30;

    unsigned inputsPerSegment() { return getBody().getNumArguments(); }
    unsigned outputsPerSegment() { return getBody().front().getTerminator()->getNumOperands(); }
    unsigned segments() { return getOutputs().size() / outputsPerSegment(); }
    /// The number of elements of the flat tensors of a segment.
    int64_t segmentElements(unsigned segment);
    /// The region for flat tensors of `elements` elements, as a body of its own.
    std::unique_ptr<::mlir::Region> instantiate(int64_t elements);
  }];
}

def Prim_YieldOp : Op<Prim_Dialect, "yield", [Pure, Terminator]> {
  let summary = "the results of a fusion or a kernel";
  let arguments = (ins Variadic<Prim_Tensor>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

#endif
