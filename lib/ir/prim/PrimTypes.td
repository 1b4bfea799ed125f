// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect `prim` and its type constraints, which `nn` shares.
#ifndef ACCC_IR_PRIM_TYPES
#define ACCC_IR_PRIM_TYPES

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ir/interfaces/Interfaces.td"

def Prim_Dialect : Dialect {
  let name = "prim";
  let cppNamespace = "::accc::prim";
  let summary = "What is computed: a closed set of primitives.";
  let description = [{
    Values are ranked tensors of static shape. There is no implicit broadcasting, no optional operand,
    and no attribute that changes the meaning of another.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// The user's own operators, which custom calls name.
    CustomOperators customOperators;
  }];
}

// ---- Types ----

def Prim_Float : AnyTypeOf<[F16, BF16, F32, F64]>;
// Signless integers are read as signed; ui* are unsigned; i1 is a boolean.
def Prim_Integer : AnyTypeOf<[I8, I16, I32, I64, UI8, UI16, UI32, UI64]>;
def Prim_Element : AnyTypeOf<[Prim_Float, Prim_Integer, I1]>;
class Prim_TensorOf<list<Type> types> : StaticShapeTensorOf<types>;
def Prim_Tensor : Prim_TensorOf<[Prim_Element]>;
def Prim_FloatTensor : Prim_TensorOf<[Prim_Float]>;
def Prim_MatrixTensor : Prim_TensorOf<[F32, F64]>;
def Prim_IntegerTensor : Prim_TensorOf<[Prim_Integer]>;
def Prim_IndexTensor : Prim_TensorOf<[I32, I64]>;
def Prim_BoolTensor : Prim_TensorOf<[I1]>;
def Prim_NumberTensor : Prim_TensorOf<[Prim_Float, Prim_Integer]>;
def Prim_BitsTensor : Prim_TensorOf<[Prim_Integer, I1]>;

#endif
