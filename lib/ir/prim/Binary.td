// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_BINARY
#define ACCC_IR_PRIM_BINARY

include "ir/prim/PrimDialect.td"

class Prim_BinaryOp<string mnemonic, Type operand, list<Trait> traits>
    : Prim_PointwiseOp<mnemonic, [SameOperandsAndResultType] # traits> {
  let arguments = (ins operand:$lhs, operand:$rhs);
  let results = (outs operand:$result);
}

def Prim_AddOp : Prim_BinaryOp<"add", Prim_NumberTensor, [Commutative] # Prim_HasGradient> {
  let summary = "a + b";
}

def Prim_SubOp : Prim_BinaryOp<"sub", Prim_NumberTensor, Prim_HasGradient> {
  let summary = "a - b";
}

def Prim_MulOp : Prim_BinaryOp<"mul", Prim_NumberTensor, [Commutative] # Prim_HasGradient> {
  let summary = "a * b";
}

def Prim_DivOp : Prim_BinaryOp<"div", Prim_NumberTensor, Prim_HasGradient> {
  let summary = "a / b; integers truncate towards zero, and dividing an integer by 0 gives 0 (a kernel never traps)";
}

def Prim_RemOp : Prim_BinaryOp<"rem", Prim_NumberTensor, Prim_HasGradient> {
  let summary = "the remainder of div, with the sign of a (C fmod for floats)";
}

def Prim_MaxOp : Prim_BinaryOp<"max", Prim_NumberTensor, [Commutative] # Prim_HasGradient> {
  let summary = "the greater; NaN if either is NaN; the gradient of a tie is split evenly";
}

def Prim_MinOp : Prim_BinaryOp<"min", Prim_NumberTensor, [Commutative] # Prim_HasGradient> {
  let summary = "the lesser; NaN if either is NaN; the gradient of a tie is split evenly";
}

def Prim_PowOp : Prim_BinaryOp<"pow", Prim_FloatTensor, [Prim_Expensive] # Prim_HasGradient> {
  let summary = "a to the power b";
}

def Prim_Atan2Op : Prim_BinaryOp<"atan2", Prim_FloatTensor, [Prim_Expensive] # Prim_HasGradient> {
  let summary = "the angle of the point (b, a), radians";
}

def Prim_AndOp : Prim_BinaryOp<"and", Prim_BitsTensor, [Commutative] # Prim_NoGradient> {
  let summary = "bitwise and; logical for booleans";
}

def Prim_OrOp : Prim_BinaryOp<"or", Prim_BitsTensor, [Commutative] # Prim_NoGradient> {
  let summary = "bitwise or; logical for booleans";
}

def Prim_XorOp : Prim_BinaryOp<"xor", Prim_BitsTensor, [Commutative] # Prim_NoGradient> {
  let summary = "bitwise exclusive or; logical for booleans";
}

def Prim_ShiftLeftOp : Prim_BinaryOp<"shift_left", Prim_IntegerTensor, Prim_NoGradient> {
  let summary = "a << b; 0 where b is not less than the width";
}

def Prim_ShiftRightOp : Prim_BinaryOp<"shift_right", Prim_IntegerTensor, Prim_NoGradient> {
  let summary = "a >> b; arithmetic for signed, logical for unsigned; b not less than the width shifts everything out";
}

#endif
