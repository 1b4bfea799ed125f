// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gamma function and its relatives. Computed in double precision whatever the type, as their formulas cancel
// near zeros and poles.
#ifndef ACCC_IR_NN_GAMMA
#define ACCC_IR_NN_GAMMA

include "ir/nn/NnDialect.td"

def Nn_LgammaOp : Nn_OpWithGradient<"lgamma", [SameOperandsAndResultType]> {
  let summary = "log |Gamma(x)|; infinite at 0, -1, -2, ...";
  let description = [{
    From 8 on Stirling's series; below, by Gamma(x + 1) = x Gamma(x), a polynomial around 2 with the zeros at 1 and 2 as
    factors; below 0 by reflection. Source: DLMF 5.11.1, 5.5.1 and 5.5.3.}];
  let arguments = (ins Prim_FloatTensor:$x);
  let results = (outs Prim_FloatTensor:$result);
}

def Nn_PolygammaOp : Nn_OpWithGradient<"polygamma", [SameOperandsAndResultType]> {
  let summary = "the derivative of this order of digamma(x) = Gamma'(x) / Gamma(x)";
  let description = [{
    Order 0 (digamma) is infinite at 0, where the sign is that of -x, and NaN at -1, -2, ..., as in PyTorch; other
    orders are infinite at all of them. Order 0: an asymptotic series from 10 on, below by recurrence. Other orders:
    (-1)^(n+1) n! zeta(n + 1, x). Below 0 by reflection. Source: DLMF 5.11.2, 5.5.2, 5.5.4 and 25.11.12.
    polygamma_c1: 0 <= order <= 100.}];
  let arguments = (ins Prim_FloatTensor:$x, I64Attr:$order);
  let results = (outs Prim_FloatTensor:$result);
  let hasVerifier = 1;
}

def Nn_ZetaOp : Nn_OpWithGradient<"zeta", [SameOperandsAndResultType]> {
  let summary = "Hurwitz' zeta function, the sum of (q + k)^-s over k >= 0";
  let description = [{
    As in PyTorch: infinite where s = 1 and where q = 0, -1, -2, ...; NaN where s < 1, and where q < 0 and s is no
    integer. No gradient with respect to s. Ten terms and the formula of Euler and Maclaurin; below 0 the
    terms of either sign are two such sums. Source: DLMF 25.11.5.}];
  let arguments = (ins Prim_FloatTensor:$s, Prim_FloatTensor:$q);
  let results = (outs Prim_FloatTensor:$result);
}

#endif
