// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_CHOICE
#define ACCC_IR_PRIM_CHOICE

include "ir/prim/PrimDialect.td"

def Prim_CompareOp : Prim_PointwiseOp<"compare", [SameTypeOperands, SameOperandsAndResultShape] # Prim_NoGradient # Prim_Infers> {
  let summary = "elementwise comparison; anything but ne is false for NaN";
  let arguments = (ins Prim_DirectionAttr:$direction, Prim_Tensor:$lhs, Prim_Tensor:$rhs);
  let results = (outs Prim_BoolTensor:$result);
  let assemblyFormat = "$direction $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Prim_SelectOp : Prim_PointwiseOp<"select",
    [SameOperandsAndResultShape, AllTypesMatch<["on_true", "on_false", "result"]>] # Prim_HasGradient> {
  let summary = "on_true where the predicate holds, else on_false";
  let arguments = (ins Prim_BoolTensor:$predicate, Prim_Tensor:$on_true, Prim_Tensor:$on_false);
  let results = (outs Prim_Tensor:$result);
}

def Prim_ConvertOp : Prim_PointwiseOp<"convert", [SameOperandsAndResultShape] # Prim_HasGradient> {
  let summary = "converts the element type";
  let description = [{Float to float rounds to nearest even; float to integer truncates towards zero and
    saturates, NaN gives 0; integer to integer wraps; anything to i1 is `!= 0`; i1 gives 0 or 1.
    The gradient between float types is a convert; otherwise zero.}];
  let arguments = (ins Prim_Tensor:$operand);
  let results = (outs Prim_Tensor:$result);
}

def Prim_BitcastOp : Prim_PointwiseOp<"bitcast", [SameOperandsAndResultShape, Prim_RoundsItself] # Prim_NoGradient> {
  let summary = "the same bits as another element type of the same width";
  let description = [{bitcast_c1: the element types have the same width.}];
  let arguments = (ins Prim_NumberTensor:$operand);
  let results = (outs Prim_NumberTensor:$result);
  let hasVerifier = 1;
}

#endif
