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

class Nn_Enum<string name, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, "", cases> {
  let cppNamespace = "::accc::nn";
  let genSpecializedAttr = 0;
}
def Nn_GeluForm : Nn_Enum<"GeluForm",
  [I32EnumAttrCase<"erf", 0>, I32EnumAttrCase<"tanh", 1>]>;
def Nn_GeluFormAttr : EnumAttr<Nn_Dialect, Nn_GeluForm, "gelu_form">;
def Nn_Reduction : Nn_Enum<"Reduction",
  [I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"mean", 1>, I32EnumAttrCase<"sum", 2>]>;
def Nn_ReductionAttr : EnumAttr<Nn_Dialect, Nn_Reduction, "reduction">;
def Nn_RnnDirection : Nn_Enum<"RnnDirection",
  [I32EnumAttrCase<"forward", 0>, I32EnumAttrCase<"reverse", 1>, I32EnumAttrCase<"bidirectional", 2>]>;
def Nn_RnnDirectionAttr : EnumAttr<Nn_Dialect, Nn_RnnDirection, "rnn_direction">;
def Nn_ResizeMode : Nn_Enum<"ResizeMode",
  [I32EnumAttrCase<"nearest", 0>, I32EnumAttrCase<"linear", 1>, I32EnumAttrCase<"cubic", 2>]>;
def Nn_ResizeModeAttr : EnumAttr<Nn_Dialect, Nn_ResizeMode, "resize_mode">;
def Nn_ResizeCoordinates : Nn_Enum<"ResizeCoordinates",
  [I32EnumAttrCase<"half_pixel", 0>, I32EnumAttrCase<"pytorch_half_pixel", 1>,
   I32EnumAttrCase<"align_corners", 2>, I32EnumAttrCase<"asymmetric", 3>,
   I32EnumAttrCase<"half_pixel_symmetric", 4>, I32EnumAttrCase<"tf_half_pixel_for_nn", 5>,
   I32EnumAttrCase<"tf_crop_and_resize", 6>]>;
def Nn_ResizeCoordinatesAttr : EnumAttr<Nn_Dialect, Nn_ResizeCoordinates, "resize_coordinates">;
def Nn_ResizeNearest : Nn_Enum<"ResizeNearest",
  [I32EnumAttrCase<"round_prefer_floor", 0>, I32EnumAttrCase<"round_prefer_ceil", 1>,
   I32EnumAttrCase<"floor", 2>, I32EnumAttrCase<"ceil", 3>]>;
def Nn_ResizeNearestAttr : EnumAttr<Nn_Dialect, Nn_ResizeNearest, "resize_nearest">;

// A number of the model: kept in double precision, read and given as a C++ double.
def Nn_NumberAttr : FloatAttrBase<F64, "64-bit float attribute"> {
  let returnType = "double";
  let convertFromStorage = "$_self.getValueAsDouble()";
  let constBuilderCall = "$_builder.getF64FloatAttr($0)";
}

// Every composite: pure, a shape rule, a decomposition. Differentiated through its decomposition ...
class Nn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Nn_Dialect, mnemonic, traits # [Pure, DeclareOpInterfaceMethods<Decomposable>]> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
// ... or by a rule of its own, because that is better than the derivative of its parts.
class Nn_OpWithGradient<string mnemonic, list<Trait> traits = []>
    : Nn_Op<mnemonic, traits # [DeclareOpInterfaceMethods<Differentiable>]>;

// Its result types follow from its operands and attributes.
defvar Nn_Infers = [InferTypeOpAdaptor];

// What is made of products, which read and give 16-bit floats.
def Nn_RoundsItself : NativeOpTrait<"RoundsItself"> { let cppNamespace = "::accc"; }
defvar Nn_Multiplies = [Nn_RoundsItself] # Nn_Infers;

#endif
