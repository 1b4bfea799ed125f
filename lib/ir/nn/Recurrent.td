// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent cells over T steps as ONNX defines them. d is 1, or 2 for bidirectional; x is [T, B, I], or
// [B, T, I] if batch_first (ONNX layout 1), which also puts B first in y, initial and final states.
//
// | value | shape |
// | w | [d, gates H, I] |
// | r | [d, gates H, H] |
// | b | [d, 2 gates H]: the input's, then the state's |
// | initial_h, initial_c, y_h, y_c | [d, B, H] ([B, d, H] if batch_first) |
// | y | [T, d, B, H] ([B, T, d, H] if batch_first) |
//
// Of 16-bit floats, products read 16 bits; sums, gates and states are f32, and results are rounded once.
#ifndef ACCC_IR_NN_RECURRENT
#define ACCC_IR_NN_RECURRENT

include "ir/nn/NnDialect.td"

def Nn_LstmOp : Nn_OpWithGradient<"lstm", [AttrSizedOperandSegments] # Nn_Multiplies> {
  let summary = "long short-term memory; gates in the order i, o, f, c";
  let description = [{
    i = logistic(Wi x + Ri h + bi [+ Pi c]), f likewise, g = tanh(Wc x + Rc h + bc), c' = f c + i g,
    o = logistic(Wo x + Ro h + bo [+ Po c']), h' = o tanh(c'). p [d, 3 H] are peepholes in the order i, o, f.
    Source: Hochreiter and Schmidhuber, "Long short-term memory", 1997; ONNX LSTM.
    lstm_c1: shapes are as the table at the top of the family says, T >= 1.}];
  let arguments = (ins Prim_FloatTensor:$x, Prim_FloatTensor:$w, Prim_FloatTensor:$r,
                       Optional<Prim_FloatTensor>:$b, Optional<Prim_FloatTensor>:$initial_h,
                       Optional<Prim_FloatTensor>:$initial_c, Optional<Prim_FloatTensor>:$p,
                       Nn_RnnDirectionAttr:$direction, BoolAttr:$batch_first);
  let results = (outs Prim_FloatTensor:$y, Prim_FloatTensor:$y_h, Prim_FloatTensor:$y_c);
  let assemblyFormat = [{
    $x `,` $w `,` $r (`b` $b^)? (`h` $initial_h^)? (`c` $initial_c^)? (`p` $p^)? attr-dict `:`
    functional-type(operands, results)}];
}

def Nn_GruOp : Nn_Op<"gru", [AttrSizedOperandSegments] # Nn_Multiplies> {
  let summary = "gated recurrent unit; gates in the order z, r, n";
  let description = [{
    z = logistic(Wz x + Rz h + bz), r likewise, n = tanh(Wn x + r (Rn h + rbn) + wbn) if
    linear_before_reset (as PyTorch), else tanh(Wn x + Rn (r h) + rbn + wbn); h' = (1 - z) n + z h.
    Source: Cho et al., "Learning phrase representations", 2014; ONNX GRU.
    gru_c1: shapes are as the table at the top of the family says, T >= 1.}];
  let arguments = (ins Prim_FloatTensor:$x, Prim_FloatTensor:$w, Prim_FloatTensor:$r,
                       Optional<Prim_FloatTensor>:$b, Optional<Prim_FloatTensor>:$initial_h,
                       Nn_RnnDirectionAttr:$direction, BoolAttr:$batch_first,
                       BoolAttr:$linear_before_reset);
  let results = (outs Prim_FloatTensor:$y, Prim_FloatTensor:$y_h);
  let assemblyFormat = [{
    $x `,` $w `,` $r (`b` $b^)? (`h` $initial_h^)? attr-dict `:` functional-type(operands, results)}];
}

def Nn_RnnOp : Nn_Op<"rnn", [AttrSizedOperandSegments] # Nn_Multiplies> {
  let summary = "h' = tanh(W x + R h + b), or relu in place of tanh";
  let description = [{
    Source: Elman, "Finding structure in time", 1990; ONNX RNN.
    rnn_c1: shapes are as the table at the top of the family says, T >= 1.}];
  let arguments = (ins Prim_FloatTensor:$x, Prim_FloatTensor:$w, Prim_FloatTensor:$r,
                       Optional<Prim_FloatTensor>:$b, Optional<Prim_FloatTensor>:$initial_h,
                       Nn_RnnDirectionAttr:$direction, BoolAttr:$batch_first, BoolAttr:$relu);
  let results = (outs Prim_FloatTensor:$y, Prim_FloatTensor:$y_h);
  let assemblyFormat = [{
    $x `,` $w `,` $r (`b` $b^)? (`h` $initial_h^)? attr-dict `:` functional-type(operands, results)}];
}

#endif
