// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_PRIM_CUSTOMCALLS
#define ACCC_IR_PRIM_CUSTOMCALLS

include "ir/prim/PrimDialect.td"

class Prim_CustomCallLike<string mnemonic, list<Trait> traits = []>
    : Prim_Op<mnemonic, "Opaque", [DeclareOpInterfaceMethods<CustomCallLike, [
                "isBackward", "getOperatorInputs", "getOperatorOutputs", "getPlaces"]>, Prim_RoundsItself],
              Prim_HasGradient # traits>;

def Prim_CustomCallOp : Prim_CustomCallLike<"custom_call"> {
  let summary = "an operator of the user's own: a call of its forward function";
  let description = [{
    `callee` is the operator's name, `domain::name`, `library` the file name of the library that gives it
    (accc/custom_op.h), which `--custom-ops` names; `config` holds its attributes. The interpreter and the
    derivative ask the library, the op's types do not.}];
  let arguments = (ins StrAttr:$callee, StrAttr:$library, DictionaryAttr:$config,
                       Variadic<Prim_Tensor>:$inputs);
  let results = (outs Variadic<Prim_Tensor>:$outputs);
  let assemblyFormat = [{
    $callee `of` $library $config `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)}];
}

def Prim_CustomCallBackwardOp : Prim_CustomCallLike<"custom_call_backward", [AttrSizedOperandSegments]> {
  let summary = "a call of the backward function of an operator of the user's own";
  let description = [{
    `input_types` and `output_types` are those of the operator. `inputs` and `outputs` are the ones that the
    function reads, numbered by `reads_inputs` and `reads_outputs`; `gradients` are those of all outputs that
    are floats. Results are the gradients of the inputs that `wants` numbers.
    custom_call_backward_c1: the lists number inputs and outputs in increasing order, as many as there are
    operands and results.
    custom_call_backward_c2: operands and results have the types of what they stand for.}];
  let arguments = (ins StrAttr:$callee, StrAttr:$library, DictionaryAttr:$config,
                       TypeArrayAttr:$input_types, TypeArrayAttr:$output_types,
                       DenseI64ArrayAttr:$reads_inputs, DenseI64ArrayAttr:$reads_outputs,
                       DenseI64ArrayAttr:$wants, Variadic<Prim_Tensor>:$inputs,
                       Variadic<Prim_Tensor>:$outputs, Variadic<Prim_FloatTensor>:$gradients);
  let results = (outs Variadic<Prim_FloatTensor>:$input_gradients);
  let hasVerifier = 1;
  let assemblyFormat = "$callee `of` $library $config operands attr-dict `:` functional-type(operands, results)";
}

#endif
