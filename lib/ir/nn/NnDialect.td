// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect `nn` and the base classes that require an op's rules.
#ifndef ACCC_IR_NN_DIALECT
#define ACCC_IR_NN_DIALECT

include "ir/prim/PrimTypes.td"

def Nn_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::accc::nn";
  let summary = "What the model said: composite operators whose structure is worth keeping.";
  let dependentDialects = ["::accc::prim::PrimDialect"];
  let useDefaultAttributePrinterParser = 1;
}

class Nn_Enum<string name, string mnemonic, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, "", cases> {
  let cppNamespace = "::accc::nn";
  let genSpecializedAttr = 0;
}
def Nn_GeluForm : Nn_Enum<"GeluForm", "gelu_form",
  [I32EnumAttrCase<"erf", 0>, I32EnumAttrCase<"tanh", 1>]>;
def Nn_GeluFormAttr : EnumAttr<Nn_Dialect, Nn_GeluForm, "gelu_form">;
def Nn_Reduction : Nn_Enum<"Reduction", "reduction",
  [I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"mean", 1>, I32EnumAttrCase<"sum", 2>]>;
def Nn_ReductionAttr : EnumAttr<Nn_Dialect, Nn_Reduction, "reduction">;

// Every composite: pure, a shape rule, a decomposition. Differentiated through its decomposition ...
class Nn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Nn_Dialect, mnemonic, traits # [Pure, DeclareOpInterfaceMethods<Decomposable>]> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
// ... or by a rule of its own, because that is better than the derivative of its parts.
class Nn_OpWithGradient<string mnemonic, list<Trait> traits = []>
    : Nn_Op<mnemonic, traits # [DeclareOpInterfaceMethods<Differentiable>]>;

#endif
