// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_RANDOM
#define ACCC_IR_PRIM_RANDOM

include "ir/prim/PrimDialect.td"

def Prim_RandomBitsOp : Prim_ViewOp<"random_bits", [Prim_Expensive] # Prim_ChunksAsWritten # Prim_NoGradient> {
  let summary = "counter-based random bits: Philox 4x32-10";
  let description = [{
    Element i (row-major) is word i mod 4 of Philox4x32-10 with the counter (b mod 2^32, b / 2^32, step,
    stream), where b = i / 4, and the key (seed mod 2^32, seed / 2^32), where key = [seed, step]: four
    neighbours share a call. Equal operands and attributes give equal bits, so that recomputation replays
    them.
    random_bits_c1: key is a tensor<2xi64>.
    Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.}];
  let arguments = (ins Prim_TensorOf<[I64]>:$key, I64Attr:$stream);
  let results = (outs Prim_TensorOf<[UI32]>:$result);
  let hasVerifier = 1;
}

#endif
