// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_STRUCTURE
#define ACCC_IR_PRIM_STRUCTURE

include "ir/prim/PrimDialect.td"

def Prim_FusionOp : Op<Prim_Dialect, "fusion", [IsolatedFromAbove, SingleBlock, Pure]> {
  let summary = "ops that run as one kernel";
  let description = [{
    The region's arguments are the operands; it ends in `prim.yield` of the results. `kind` names the
    emitter: loop, reduce, window, scatter or opaque (see lib/codegen/kernel). `name` says what the kernel does, for profiles.

    fusion_c1: the region's arguments have the types of the inputs.
    fusion_c2: the region ends in prim.yield.
    fusion_c3: the types yielded are those of the results.}];
  let arguments = (ins Variadic<Prim_Tensor>:$inputs, StrAttr:$kind, StrAttr:$name);
  let results = (outs Variadic<Prim_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = "$kind $name `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs) $body";
}

def Prim_YieldOp : Op<Prim_Dialect, "yield", [Pure, Terminator]> {
  let summary = "the results of a fusion or a kernel";
  let arguments = (ins Variadic<Prim_Tensor>:$results);
  let assemblyFormat = "$results attr-dict `:` type($results)";
}

#endif
