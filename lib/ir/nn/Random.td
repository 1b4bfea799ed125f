// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All draw from prim.random_bits: key = [seed, step], and `stream` tells the random ops of a model apart.
#ifndef ACCC_IR_NN_RANDOM
#define ACCC_IR_NN_RANDOM

include "ir/nn/NnDialect.td"

def Nn_RandomKey : Prim_TensorOf<[I64]>;

def Nn_DropoutOp
    : Nn_OpWithGradient<"dropout", [AllTypesMatch<["x", "result"]>,
                                    DeclareOpInterfaceMethods<ModeDependent>]> {
  let summary = "zeroes elements with probability `ratio` and divides the others by 1 - ratio";
  let description = [{
    The mask is a function of key, stream and shape, so that the gradient makes it again and nothing is
    kept. In inference the op is absent.
    Source: Srivastava et al., "Dropout", 2014.
    dropout_c1: 0 <= ratio <= 1.
    random_c1: key has the shape [2].}];
  let arguments = (ins Prim_FloatTensor:$x, Nn_RandomKey:$key, Nn_NumberAttr:$ratio, I64Attr:$stream);
  let results = (outs Prim_FloatTensor:$result);
  let hasVerifier = 1;
}

def Nn_RandomUniformOp : Nn_Op<"random_uniform"> {
  let summary = "uniform in [low, high), of the result's shape";
  let description = [{random_c1: key has the shape [2].}];
  let arguments = (ins Nn_RandomKey:$key, Nn_NumberAttr:$low, Nn_NumberAttr:$high, I64Attr:$stream);
  let results = (outs Prim_FloatTensor:$result);
  let hasVerifier = 1;
}

def Nn_RandomNormalOp : Nn_Op<"random_normal"> {
  let summary = "normal with the given mean and standard deviation `scale`, of the result's shape";
  let description = [{
    Source: Box and Muller, "A note on the generation of random normal deviates", 1958.
    random_c1: key has the shape [2].}];
  let arguments = (ins Nn_RandomKey:$key, Nn_NumberAttr:$mean, Nn_NumberAttr:$scale, I64Attr:$stream);
  let results = (outs Prim_FloatTensor:$result);
  let hasVerifier = 1;
}

def Nn_BernoulliOp : Nn_Op<"bernoulli"> {
  let summary = "1 with probability p, else 0; the result's element type may differ from p's";
  let description = [{
    The gradient is zero.
    bernoulli_c1: p and the result have the same shape.
    random_c1: key has the shape [2].}];
  let arguments = (ins Prim_FloatTensor:$p, Nn_RandomKey:$key, I64Attr:$stream);
  let results = (outs Prim_Tensor:$result);
  let hasVerifier = 1;
}

#endif
