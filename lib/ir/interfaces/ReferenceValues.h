// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between the interpreter's doubles and typed values: bits, attributes, bytes.
#ifndef ACCC_IR_INTERFACES_REFERENCEVALUES_H
#define ACCC_IR_INTERFACES_REFERENCEVALUES_H

#include "ir/interfaces/ReferenceArray.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace accc {

/// True for ui* and for i1, whose values are 0 and 1. Signless integers are signed.
bool isUnsignedElement(mlir::Type elementType);

/// The two's complement of an integral value; saturates beyond 64 bits, 0 for NaN.
uint64_t integerBits(double value);

/// The low bits of `bits`, read as the type says: integer arithmetic wraps.
double wrapInteger(mlir::IntegerType type, uint64_t bits);

/// The value that a variable of the element type holds after `value` is stored to it: floats round
/// to nearest even, integers wrap, i1 is `value != 0`.
double roundToElement(mlir::Type elementType, double value);

/// The bits of `value` as a variable of the element type holds it, and back.
llvm::APInt elementBits(mlir::Type elementType, double value);
double elementFromBits(mlir::Type elementType, const llvm::APInt &bits);

/// Any elements attribute of floats, integers or booleans, resources included.
ReferenceArray toReference(mlir::ElementsAttr elements);

/// Rounded to the type's elements. The shapes must be equal.
mlir::DenseElementsAttr toElements(const ReferenceArray &array, mlir::RankedTensorType type);

/// Row-major, little-endian; booleans one byte each. `bytes` must have the type's size.
ReferenceArray fromBytes(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);
std::vector<char> toBytes(const ReferenceArray &array, mlir::RankedTensorType type);

} // namespace accc

#endif
