// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_CONSTANTS
#define ACCC_IR_PRIM_CONSTANTS

include "ir/prim/PrimDialect.td"

def Prim_ConstantOp : Prim_ViewOp<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>] # Prim_ChunksAsWritten # Prim_NoGradient> {
  let summary = "a tensor known at compile time";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Prim_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value)>];
  let hasFolder = 1;
}

def Prim_IotaOp : Prim_ViewOp<"iota", Prim_ChunksAsWritten # Prim_NoGradient> {
  let summary = "the index along one dimension";
  let description = [{result[i0, ..., in] = i_dimension, converted to the element type.

    iota_c1: 0 <= dimension < rank(result).}];
  let arguments = (ins I64Attr:$dimension);
  let results = (outs Prim_NumberTensor:$result);
  let hasVerifier = 1;
}

#endif
