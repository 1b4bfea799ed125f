// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interpret before = interpret after.
#ifndef ACCC_TEST_UNIT_FUSION_EQUIVALENCE_H
#define ACCC_TEST_UNIT_FUSION_EQUIVALENCE_H

#include "reference/interpreter/Interpreter.h"

#include <string>
#include <vector>

namespace accc::test {

/// Values that every op takes: floats in (0.1, 1.9), integers and booleans 0 and 1; the same each
/// time.
ReferenceArray sampleValues(mlir::RankedTensorType type);
std::vector<ReferenceArray> sampleArguments(mlir::func::FuncOp function);

/// The first place where two lists of results differ by more than the tolerance, relative beyond 1;
/// empty if there is none. NaN equals NaN.
std::string difference(llvm::ArrayRef<ReferenceArray> found,
                       llvm::ArrayRef<ReferenceArray> expected, double tolerance);

} // namespace accc::test

#endif
