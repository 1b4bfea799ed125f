// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Prim.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace accc::prim;

#include "ir/prim/PrimDialect.cpp.inc"
#include "ir/prim/PrimDialectEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/prim/PrimDialectAttrs.cpp.inc"

void PrimDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/prim/PrimDialectAttrs.cpp.inc"
      >();
#include "ir/prim/Registrations.cpp.inc"
}

Operation *PrimDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  return elements && elements.getType() == type ? builder.create<ConstantOp>(loc, elements)
                                                : nullptr;
}
