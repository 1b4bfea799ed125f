// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The logistic function is prim.logistic, the hyperbolic tangent prim.tanh.
#ifndef ACCC_IR_NN_ACTIVATIONS
#define ACCC_IR_NN_ACTIVATIONS

include "ir/nn/NnDialect.td"

class Nn_Activation<string mnemonic, dag attributes = (ins)>
    : Nn_OpWithGradient<mnemonic, [SameOperandsAndResultType]> {
  let arguments = !con((ins Prim_FloatTensor:$x), attributes);
  let results = (outs Prim_FloatTensor:$result);
}

def Nn_ReluOp : Nn_Activation<"relu"> {
  let summary = "max(x, 0); the gradient at 0 is 0";
}

def Nn_GeluOp : Nn_Activation<"gelu", (ins Nn_GeluFormAttr:$form)> {
  let summary = "x Phi(x), with the normal distribution's Phi (erf) or its approximation (tanh)";
  let description = [{
    erf: x / 2 (1 + erf(x / sqrt 2)). tanh: x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
    Source: Hendrycks and Gimpel, "Gaussian error linear units", 2016.}];
}

def Nn_SiluOp : Nn_Activation<"silu"> {
  let summary = "x logistic(x)";
}

def Nn_LeakyReluOp : Nn_Activation<"leaky_relu", (ins Nn_NumberAttr:$alpha)> {
  let summary = "x where x > 0, else alpha x";
}

def Nn_EluOp : Nn_Activation<"elu", (ins Nn_NumberAttr:$alpha)> {
  let summary = "x where x > 0, else alpha (e^x - 1)";
}

def Nn_CeluOp : Nn_Activation<"celu", (ins Nn_NumberAttr:$alpha)> {
  let summary = "x where x > 0, else alpha (e^(x / alpha) - 1)";
}

def Nn_SeluOp : Nn_Activation<"selu", (ins Nn_NumberAttr:$alpha, Nn_NumberAttr:$gamma)> {
  let summary = "gamma x where x > 0, else gamma alpha (e^x - 1)";
}

def Nn_HardSigmoidOp : Nn_Activation<"hard_sigmoid", (ins Nn_NumberAttr:$alpha, Nn_NumberAttr:$beta)> {
  let summary = "min(max(alpha x + beta, 0), 1)";
}

def Nn_HardSwishOp : Nn_Activation<"hard_swish"> {
  let summary = "x min(max(x / 6 + 1 / 2, 0), 1)";
}

def Nn_SoftplusOp : Nn_Activation<"softplus"> {
  let summary = "log(1 + e^x)";
}

def Nn_SoftsignOp : Nn_Activation<"softsign"> {
  let summary = "x / (1 + |x|)";
}

def Nn_MishOp : Nn_Activation<"mish"> {
  let summary = "x tanh(softplus(x))";
}

def Nn_ThresholdedReluOp : Nn_Activation<"thresholded_relu", (ins Nn_NumberAttr:$alpha)> {
  let summary = "x where x > alpha, else 0";
}

def Nn_ClampOp : Nn_Activation<"clamp", (ins Nn_NumberAttr:$min, Nn_NumberAttr:$max)> {
  let summary = "min(max(x, min), max); an open end is infinite; the gradient at an end is 0";
}

def Nn_PreluOp : Nn_OpWithGradient<"prelu", [AllTypesMatch<["x", "result"]>]> {
  let summary = "x where x > 0, else slope x";
  let description = [{prelu_c1: slope broadcasts to the shape of x by numpy's rule.}];
  let arguments = (ins Prim_FloatTensor:$x, Prim_FloatTensor:$slope);
  let results = (outs Prim_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif
