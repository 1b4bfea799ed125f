// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect `prim`: what is computed.
#ifndef ACCC_IR_PRIM_PRIM_H
#define ACCC_IR_PRIM_PRIM_H

#include "ir/interfaces/Interfaces.h"
#include "ir/prim/CustomOperators.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/prim/PrimDialect.h.inc"
#include "ir/prim/PrimDialectEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/prim/PrimDialectAttrs.h.inc"

#include "ir/prim/Families.h.inc"

namespace accc::prim {
/// Whether the op is a matrix product, a convolution, an attention, a custom call or a collective:
/// what the runtime has done by a library and is never part of a kernel.
bool isCall(mlir::Operation *op);

/// How the kernel made of these ops walks its data: as the one op does that has an order of its
/// own, or that reduces; if there is none, as it likes.
KernelKind kernelKind(llvm::ArrayRef<mlir::Operation *> ops);

/// Whether a kernel can have the op only as the one that decides how it walks its data.
bool isAnchor(mlir::Operation *op);

/// Whether the op's kernel is nothing but that op, and yields all of its results, read or not: it
/// works in their memory.
bool worksInResults(mlir::Operation *op);

/// Text that is equal for equal bodies, whatever their locations: types of the arguments, then
/// every op with its operands by number, its attributes and result types.
std::string describeBody(mlir::Block &body);

/// Whether a kernel with this body may end a step with a data error.
bool mayReportErrors(mlir::Block &body);
} // namespace accc::prim

#endif
