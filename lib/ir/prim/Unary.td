// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_UNARY
#define ACCC_IR_PRIM_UNARY

include "ir/prim/PrimDialect.td"

class Prim_UnaryOp<string mnemonic, Type operand, list<Trait> traits>
    : Prim_PointwiseOp<mnemonic, [SameOperandsAndResultType] # traits> {
  let arguments = (ins operand:$operand);
  let results = (outs operand:$result);
}

def Prim_NegOp : Prim_UnaryOp<"neg", Prim_NumberTensor, Prim_HasGradient> {
  let summary = "-x";
}

def Prim_AbsOp : Prim_UnaryOp<"abs", Prim_NumberTensor, Prim_HasGradient> {
  let summary = "|x|; the gradient at 0 is 0";
}

def Prim_ExpOp : Prim_UnaryOp<"exp", Prim_FloatTensor, [Prim_Expensive] # Prim_HasGradient> {
  let summary = "e^x";
}

def Prim_Expm1Op : Prim_UnaryOp<"expm1", Prim_FloatTensor, [Prim_Expensive] # Prim_HasGradient> {
  let summary = "e^x - 1, exact near 0";
}

def Prim_LogOp : Prim_UnaryOp<"log", Prim_FloatTensor, [Prim_Expensive] # Prim_HasGradient> {
  let summary = "natural logarithm";
}

def Prim_Log1pOp : Prim_UnaryOp<"log1p", Prim_FloatTensor, [Prim_Expensive] # Prim_HasGradient> {
  let summary = "log(1 + x), exact near 0";
}

def Prim_SqrtOp : Prim_UnaryOp<"sqrt", Prim_FloatTensor, Prim_HasGradient> {
  let summary = "square root";
}

def Prim_RsqrtOp : Prim_UnaryOp<"rsqrt", Prim_FloatTensor, Prim_HasGradient> {
  let summary = "1 / sqrt(x)";
}

def Prim_SinOp : Prim_UnaryOp<"sin", Prim_FloatTensor, [Prim_Expensive] # Prim_HasGradient> {
  let summary = "sine, radians";
}

def Prim_CosOp : Prim_UnaryOp<"cos", Prim_FloatTensor, [Prim_Expensive] # Prim_HasGradient> {
  let summary = "cosine, radians";
}

def Prim_AsinOp : Prim_UnaryOp<"asin", Prim_FloatTensor, [Prim_Expensive] # Prim_HasGradient> {
  let summary = "arc sine";
}

def Prim_AcosOp : Prim_UnaryOp<"acos", Prim_FloatTensor, [Prim_Expensive] # Prim_HasGradient> {
  let summary = "arc cosine";
}

def Prim_AtanOp : Prim_UnaryOp<"atan", Prim_FloatTensor, [Prim_Expensive] # Prim_HasGradient> {
  let summary = "arc tangent";
}

def Prim_TanhOp : Prim_UnaryOp<"tanh", Prim_FloatTensor, [Prim_Expensive] # Prim_HasGradient> {
  let summary = "hyperbolic tangent";
}

def Prim_LogisticOp : Prim_UnaryOp<"logistic", Prim_FloatTensor, [Prim_Expensive] # Prim_HasGradient> {
  let summary = "1 / (1 + e^-x)";
}

def Prim_ErfOp : Prim_UnaryOp<"erf", Prim_FloatTensor, [Prim_Expensive] # Prim_HasGradient> {
  let summary = "error function";
}

def Prim_SignOp : Prim_UnaryOp<"sign", Prim_NumberTensor, Prim_GradientOfZeros> {
  let summary = "-1, 0 or 1; NaN for NaN";
}

def Prim_FloorOp : Prim_UnaryOp<"floor", Prim_FloatTensor, Prim_GradientOfZeros> {
  let summary = "the greatest integer that is not greater";
}

def Prim_CeilOp : Prim_UnaryOp<"ceil", Prim_FloatTensor, Prim_GradientOfZeros> {
  let summary = "the least integer that is not less";
}

def Prim_RoundEvenOp : Prim_UnaryOp<"round_even", Prim_FloatTensor, Prim_GradientOfZeros> {
  let summary = "the nearest integer, ties to even";
}

def Prim_NotOp : Prim_UnaryOp<"not", Prim_BitsTensor, Prim_NoGradient> {
  let summary = "bitwise complement; logical for booleans";
}

def Prim_IsFiniteOp : Prim_PointwiseOp<"is_finite", [SameOperandsAndResultShape] # Prim_NoGradient # Prim_Infers> {
  let summary = "neither infinite nor NaN";
  let arguments = (ins Prim_FloatTensor:$operand);
  let results = (outs Prim_BoolTensor:$result);
}

#endif
