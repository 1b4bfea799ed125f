// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compiled model is made of. A module of exec.variable, exec.constant, exec.kernel, exec.entry.
#ifndef ACCC_IR_EXEC_PROGRAM
#define ACCC_IR_EXEC_PROGRAM

include "ir/exec/ExecDialect.td"
include "ir/prim/PrimDialect.td"

class Exec_Op<string mnemonic, list<Trait> traits = []> : Op<Exec_Dialect, mnemonic, traits>;

def Exec_VariableOp : Exec_Op<"variable"> {
  let summary = "what persists between calls, at a fixed offset of the state block";
  let description = [{
    `role` is parameter, buffer or optimizer_state; `offset` counts bytes. `type` is what users see; with an
    `order` its dimensions lie in memory in that order, the outermost first, and entries read and write a
    tensor of that shape: `tensor<8x3x5x5xf32> in [0, 2, 3, 1]` lies there as an 8x5x5x3 one.}];
  let arguments = (ins StrAttr:$name, Prim_RoleAttr:$role, TypeAttrOf<AnyRankedTensor>:$type,
                       OptionalAttr<DenseI64ArrayAttr>:$order, I64Attr:$offset, UnitAttr:$trainable);
  let assemblyFormat = "$name $role $type (`in` $order^)? `at` $offset (`trainable` $trainable^)? attr-dict";
  let hasVerifier = 1;
}

def Exec_ConstantOp : Exec_Op<"constant", [Symbol]> {
  let summary = "a read-only tensor inside the library";
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$value);
  let assemblyFormat = "$sym_name $value attr-dict";
}

def Exec_KernelOp : Exec_Op<"kernel", [Symbol, IsolatedFromAbove, SingleBlock]> {
  let summary = "what a launch computes";
  let description = [{
    The body is that of a `prim.fusion`: block arguments are the inputs, `prim.yield` gives the outputs.
    `kind` and `spec` say how it walks its data; `label` says what it computes, for reports.}];
  let arguments = (ins SymbolNameAttr:$sym_name, Prim_KernelKindAttr:$kind, StrAttr:$label,
                       OptionalAttr<Prim_KernelSpecAttr>:$spec);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $kind $label (`walks` $spec^)? attr-dict-with-keyword $body";
}

def Exec_EntryOp : Exec_Op<"entry", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "what a caller can run";
  let description = [{
    `inputs` and `outputs` list {name, role (#prim.role), type} of what the caller passes, in order; roles are those of
    docs/function-contract.md. `arena_size` in bytes. The first 64 bytes of the arena hold the status word.
    Body: slices, launches and library calls in execution order.

    `input_values` and `output_values` are the numbers of the values that the caller's tensors hold, and get.
    `variables` lists {name, before, after}: the value that a variable holds when the entry begins (-1 where
    the entry does not read it) and the one it holds at the end.

    In a program for several sizes there is an entry for each, named `train_step[seq=64]`, whose `sizes`
    ("seq=64") stand in its name; an entry that fits all of them has none.}];
  let arguments = (ins SymbolNameAttr:$sym_name, DictArrayAttr:$inputs, DictArrayAttr:$outputs,
                       DenseI64ArrayAttr:$input_values, DenseI64ArrayAttr:$output_values,
                       DictArrayAttr:$variables, I64Attr:$arena_size, OptionalAttr<StrAttr>:$sizes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    /// What a caller asks for, "train_step", and at which sizes: empty where all.
    ::llvm::StringRef getEntryName() { return getSymName().split('[').first; }
    ::llvm::StringRef getSizesText() { return getSizes().value_or(""); }
  }];
}

def Exec_SliceOp : Exec_Op<"slice", [Pure]> {
  let summary = "names a buffer";
  let description = [{
    `offset` is bytes in state and arena, the number of the tensor for input and output, 0 for constant;
    `symbol` names the constant. Who reads the buffer expects the value number `value` in it, who writes it
    leaves that there: its bytes from number `part` on (0 where that is not given). The numbers are those of
    the values of the function that the entry was made from; verifySchedule proves them.}];
  let arguments = (ins Exec_SpaceAttr:$space, I64Attr:$offset, OptionalAttr<FlatSymbolRefAttr>:$symbol,
                       I64Attr:$value, OptionalAttr<I64Attr>:$part);
  let results = (outs Exec_Buffer:$buffer);
  let assemblyFormat = "$space $offset ($symbol^)? `of` $value (`+` $part^)? attr-dict `:` type($buffer)";
}

def Exec_LaunchOp : Exec_Op<"launch", [AttrSizedOperandSegments]> {
  let summary = "runs a kernel over all its tasks";
  let description = [{
    Inputs and outputs in the kernel's order. An output may be the same buffer as an input only if the
    kernel reads each element of that input before it writes the element of the same index, and no other.}];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Exec_Buffer>:$inputs,
                       Variadic<Exec_Buffer>:$outputs);
  let assemblyFormat = "$kernel `(` $inputs `)` `->` `(` $outputs `)` attr-dict `:` type($inputs) `->` type($outputs)";
}

def Exec_LaunchEachOp : Exec_Op<"launch_each", [AttrSizedOperandSegments]> {
  let summary = "runs a kernel of kind each over several segments at once";
  let description = [{
    The kernel's body is written for tensors of one dimension, whose extent `sizes` gives for each segment
    anew. `inputs` are the kernel's inputs for the first segment, then for the second, ...; `outputs`
    likewise. Segments run at the same time: none reads what another writes.}];
  let arguments = (ins FlatSymbolRefAttr:$kernel, DenseI64ArrayAttr:$sizes, Variadic<Exec_Buffer>:$inputs,
                       Variadic<Exec_Buffer>:$outputs);
  let assemblyFormat = "$kernel $sizes `(` $inputs `)` `->` `(` $outputs `)` attr-dict `:` type($inputs) `->` type($outputs)";
}

def Exec_LibraryCallOp : Exec_Op<"library_call", [AttrSizedOperandSegments]> {
  let summary = "runs a contraction or an attention in a library";
  let description = [{
    `callee` is the mnemonic of the prim op (dot_general, gemm, convolution, convolution_backward_data, convolution_backward_weights, attention, attention_backward,
    strided_attention, strided_attention_backward) and `config` its attributes.}];
  let arguments = (ins StrAttr:$callee, DictionaryAttr:$config, Variadic<Exec_Buffer>:$inputs,
                       Variadic<Exec_Buffer>:$outputs);
  let assemblyFormat = "$callee $config `(` $inputs `)` `->` `(` $outputs `)` attr-dict `:` type($inputs) `->` type($outputs)";
}

def Exec_CustomCallOp : Exec_Op<"custom_call", [AttrSizedOperandSegments]> {
  let summary = "calls a function of an operator of the user's own";
  let description = [{
    Of the operator `callee`, which the file `library` gives, the forward or (`backward`) the backward
    function, with the attributes `config`. `input_types` and `output_types` are those of the operator. For
    each of its inputs, outputs, gradients of outputs and gradients of inputs `places` says which of the inputs
    and (counted on behind these) outputs of this op it is; -1: none.}];
  let arguments = (ins StrAttr:$callee, StrAttr:$library, DictionaryAttr:$config, UnitAttr:$backward,
                       TypeArrayAttr:$input_types, TypeArrayAttr:$output_types, DenseI32ArrayAttr:$places,
                       Variadic<Exec_Buffer>:$inputs, Variadic<Exec_Buffer>:$outputs);
  let assemblyFormat = [{
    (`backward` $backward^)? $callee `of` $library $config `(` $inputs `)` `->` `(` $outputs `)` attr-dict
    `:` type($inputs) `->` type($outputs)}];
}

def Exec_CollectiveOp : Exec_Op<"collective", [AttrSizedOperandSegments]> {
  let summary = "exchanges tensors with the other processes that train the model";
  let description = [{
    `callee` is the mnemonic of the prim op (all_reduce, broadcast_from) and `config` its attributes. Output i is that of
    input i, and may be the same buffer. All inputs are of one element type.}];
  let arguments = (ins StrAttr:$callee, DictionaryAttr:$config, Variadic<Exec_Buffer>:$inputs, Variadic<Exec_Buffer>:$outputs);
  let assemblyFormat = "$callee $config `(` $inputs `)` `->` `(` $outputs `)` attr-dict `:` type($inputs) `->` type($outputs)";
}

def Exec_AgreeOp : Exec_Op<"agree"> {
  let summary = "lets the call fail in all processes if it has failed in one";
  let description = [{Stands behind the collectives of an entry, and before its check if it has one: no process changes its state alone.}];
  let assemblyFormat = "attr-dict";
}

def Exec_CheckOp : Exec_Op<"check"> {
  let summary = "ends the call here with its status if a kernel has reported a data error";
  let description = [{Stands before the first launch that changes the state.}];
  let assemblyFormat = "attr-dict";
}

#endif
