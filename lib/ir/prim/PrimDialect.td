// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The enums of `prim` and the base classes that require an op's rules.
#ifndef ACCC_IR_PRIM_DIALECT
#define ACCC_IR_PRIM_DIALECT

include "ir/prim/PrimTypes.td"

// ---- Enums ----

class Prim_Enum<string name, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, "", cases> {
  let cppNamespace = "::accc::prim";
  let genSpecializedAttr = 0;
}
def Prim_Direction : Prim_Enum<"Direction", [
  I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
  I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]>;
def Prim_DirectionAttr : EnumAttr<Prim_Dialect, Prim_Direction, "direction">;
def Prim_ReduceKind : Prim_Enum<"ReduceKind", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>, I32EnumAttrCase<"max", 2>,
  I32EnumAttrCase<"min", 3>, I32EnumAttrCase<"all", 4>, I32EnumAttrCase<"any", 5>]>;
def Prim_ReduceKindAttr : EnumAttr<Prim_Dialect, Prim_ReduceKind, "reduce_kind">;
def Prim_ScatterKind : Prim_Enum<"ScatterKind", [
  I32EnumAttrCase<"set", 0>, I32EnumAttrCase<"add", 1>, I32EnumAttrCase<"mul", 2>,
  I32EnumAttrCase<"max", 3>, I32EnumAttrCase<"min", 4>]>;
def Prim_ScatterKindAttr : EnumAttr<Prim_Dialect, Prim_ScatterKind, "scatter_kind">;
// How a kernel walks its data: there is an emitter for each (lib/codegen/kernel/Emitters.h).
def Prim_KernelKind : Prim_Enum<"KernelKind", [
  I32EnumAttrCase<"loop", 0>, I32EnumAttrCase<"reduce", 1>, I32EnumAttrCase<"scatter", 2>,
  I32EnumAttrCase<"scan", 3>, I32EnumAttrCase<"sort", 4>, I32EnumAttrCase<"each", 5>,
  I32EnumAttrCase<"matrix", 6>]>;
def Prim_KernelKindAttr : EnumAttr<Prim_Dialect, Prim_KernelKind, "kernel_kind">;

// What an argument or a result of a function is for the model (docs/function-contract.md).
def Prim_Role : Prim_Enum<"Role", [
  I32EnumAttrCase<"Parameter", 0, "parameter">, I32EnumAttrCase<"Buffer", 1, "buffer">,
  I32EnumAttrCase<"OptimizerState", 2, "optimizer_state">, I32EnumAttrCase<"Input", 3, "input">,
  I32EnumAttrCase<"Target", 4, "target">, I32EnumAttrCase<"RandomKey", 5, "random_key">,
  I32EnumAttrCase<"LearningRate", 6, "learning_rate">, I32EnumAttrCase<"Seed", 7, "seed">,
  I32EnumAttrCase<"Step", 8, "step">, I32EnumAttrCase<"Gradient", 9, "gradient">,
  I32EnumAttrCase<"Output", 10, "output">, I32EnumAttrCase<"Loss", 11, "loss">,
  I32EnumAttrCase<"Update", 12, "update">]>;
def Prim_RoleAttr : EnumAttr<Prim_Dialect, Prim_Role, "role"> {
  let assemblyFormat = "`<` $value `>`";
}

def Prim_KernelSpecAttr : AttrDef<Prim_Dialect, "KernelSpec"> {
  let mnemonic = "kernel_spec";
  let summary = "what fusion found out about a kernel of kind loop or reduce";
  let description = [{
    The iteration space of a loop kernel is the shape of its results, of which some may be concatenations of
    tensors of that shape; that of a reduce kernel is the shape of what is reduced. A kernel that reduces rows, the innermost dimensions of its space, may reduce strips of
    rows as well.

    `extents`: of the space's dimensions. Neighbours that every access walks as one are one: the inner one
    has the product, the outer ones have 1.
    `reduced`: the dimensions that are reduced.
    `levels`: for each prim.reduce of the body, in order, how many others lie on the way to it.
    `depths`: for each result how many levels have to be known before it can be computed.
    `in_place`: the inputs of which an element is read for the output element of the same row-major index
    alone, so that the two may share their memory.
    `accesses`: as functions of the space's index, every index expression that decides which memory is read
    or, but for what is reduced of strips, written or whether it is; those of memory count row-major elements. Symbols stand for indices that
    are data.}];
  let parameters = (ins "::mlir::DenseI64ArrayAttr":$extents, "::mlir::DenseI64ArrayAttr":$reduced,
                        "::mlir::DenseI64ArrayAttr":$levels, "::mlir::DenseI64ArrayAttr":$depths,
                        "::mlir::DenseI64ArrayAttr":$in_place, "::mlir::AffineMap":$accesses);
  let assemblyFormat = "`<` struct(params) `>`";
}

// ---- Base classes ----

def Prim_ZeroGradient : NativeOpTrait<"ZeroGradient"> { let cppNamespace = "::accc"; }
def Prim_PiecewiseConstant : NativeOpTrait<"PiecewiseConstant"> { let cppNamespace = "::accc"; }
def Prim_ReportsErrors : NativeOpTrait<"ReportsErrors"> { let cppNamespace = "::accc"; }
def Prim_Expensive : NativeOpTrait<"Expensive"> { let cppNamespace = "::accc"; }
def Prim_RoundsItself : NativeOpTrait<"RoundsItself"> { let cppNamespace = "::accc"; }
def Prim_Collective : NativeOpTrait<"Collective"> { let cppNamespace = "::accc"; }

// Every primitive: pure, a shape rule, a value, a fusion class with its rule.
class Prim_Op<string mnemonic, string fusionClass, list<Trait> rules, list<Trait> traits = []>
    : Op<Prim_Dialect, mnemonic, traits # rules # [Pure, DeclareOpInterfaceMethods<Evaluable>,
                                                   DeclareOpInterfaceMethods<Fusible>]> {
  string fusionClassDeclaration =
      "static constexpr ::accc::FusionClass kFusionClass = ::accc::FusionClass::" # fusionClass # ";";
  let extraClassDeclaration = fusionClassDeclaration;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
class Prim_PointwiseOp<string mnemonic, list<Trait> traits = []>
    : Prim_Op<mnemonic, "Pointwise", [DeclareOpInterfaceMethods<Pointwise>, Chunkable], traits>;
class Prim_ViewOp<string mnemonic, list<Trait> traits = []>
    : Prim_Op<mnemonic, "View", [DeclareOpInterfaceMethods<View>], traits>;

defvar Prim_Combines = [DeclareOpInterfaceMethods<Combining>];
defvar Prim_Reduces = [DeclareOpInterfaceMethods<Combining>, DeclareOpInterfaceMethods<Reducing>];
defvar Prim_Orders = [DeclareOpInterfaceMethods<Ordering>];

// Its attributes speak of dimensions: of all, of some.
defvar Prim_OfAllDimensions =
    [DeclareOpInterfaceMethods<Dimensioned, ["getAttributesOfAllDimensions"]>];
defvar Prim_OfSomeDimensions =
    [DeclareOpInterfaceMethods<Dimensioned, ["getAttributesOfSomeDimensions"]>];

// It can be computed chunk by chunk along some dimensions; by its attributes as they are, or not.
defvar Prim_Chunks = [DeclareOpInterfaceMethods<Chunkable, ["getChunkedDimensions"]>];
defvar Prim_ChunksAsWritten =
    [DeclareOpInterfaceMethods<Chunkable, ["getChunkedDimensions", "createChunk"]>];

// Every primitive says one of these three.
defvar Prim_HasGradient = [DeclareOpInterfaceMethods<Differentiable>];
defvar Prim_GradientOfZeros = [Prim_ZeroGradient, Prim_PiecewiseConstant];
defvar Prim_NoGradient = [Prim_ZeroGradient];

// Its result types follow from its operands and attributes.
defvar Prim_Infers = [InferTypeOpAdaptor];

#endif
