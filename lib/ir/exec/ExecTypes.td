// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect `exec` and its buffer type.
#ifndef ACCC_IR_EXEC_TYPES
#define ACCC_IR_EXEC_TYPES

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::accc::exec";
  let summary = "What runs, where and when: launches in order, buffers at fixed offsets.";
  let dependentDialects = ["::accc::prim::PrimDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

def Exec_Space : I32EnumAttr<"Space", "where a buffer lies", [
  I32EnumAttrCase<"state", 0>,    // the persistent block of variables; offset in bytes
  I32EnumAttrCase<"arena", 1>,    // the scratch of one call; offset in bytes
  I32EnumAttrCase<"input", 2>,    // given by the caller; the entry's input number
  I32EnumAttrCase<"output", 3>,   // given by the caller; the entry's output number
  I32EnumAttrCase<"constant", 4>  // in the library, read-only; the symbol's `exec.constant`
]> {
  let cppNamespace = "::accc::exec";
  let genSpecializedAttr = 0;
}
def Exec_SpaceAttr : EnumAttr<Exec_Dialect, Exec_Space, "space">;

#endif
