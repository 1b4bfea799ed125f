// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the normal distribution and Bessel functions. Computed in double precision whatever the type.
#ifndef ACCC_IR_NN_SPECIAL
#define ACCC_IR_NN_SPECIAL

include "ir/nn/NnDialect.td"

class Nn_SpecialFunction<string mnemonic, dag attributes = (ins)>
    : Nn_OpWithGradient<mnemonic, [SameOperandsAndResultType]> {
  let arguments = !con((ins Prim_FloatTensor:$x), attributes);
  let results = (outs Prim_FloatTensor:$result);
}

def Nn_ErfcOp : Nn_SpecialFunction<"erfc"> {
  let summary = "1 - erf(x), exact where erf is almost 1";
  let description = [{e^(-x^2) erfcx(x).}];
}

def Nn_ErfcxOp : Nn_SpecialFunction<"erfcx"> {
  let summary = "e^(x^2) erfc(x)";
  let description = [{
    (1 + 2x) erfcx(x) is a polynomial in (x - 4) / (x + 4) for x >= 0; below, 2 e^(x^2) - erfcx(-x).
    Source: Shepherd and Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x", 1981.}];
}

def Nn_ErfinvOp : Nn_SpecialFunction<"erfinv"> {
  let summary = "the inverse of erf; NaN beyond -1 and 1";
  let description = [{
    Source: Wichura, "Algorithm AS 241: the percentage points of the normal distribution", 1988.}];
}

def Nn_NdtriOp : Nn_SpecialFunction<"ndtri"> {
  let summary = "the inverse of the normal distribution's Phi; NaN below 0 and above 1";
  let description = [{Source: as for nn.erfinv.}];
}

def Nn_LogNdtrOp : Nn_SpecialFunction<"log_ndtr"> {
  let summary = "log Phi(x), with the normal distribution's Phi";
}

def Nn_EntrOp : Nn_SpecialFunction<"entr"> {
  let summary = "-x log x; 0 for 0, -inf below";
}

def Nn_BesselIOp : Nn_SpecialFunction<"bessel_i", (ins I64Attr:$order, BoolAttr:$scaled)> {
  let summary = "the modified Bessel function of the first kind I_n(x); `scaled`: e^-|x| I_n(x)";
  let description = [{
    The power series for |x| < 20, from there on Hankel's expansion. Source: DLMF 10.25.2 and 10.40.1.
    bessel_i_c1: 0 <= order <= 8.}];
  let hasVerifier = 1;
}

#endif
