// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on numbers that are known while importing.
#ifndef ACCC_FRONTEND_ATEN_NUMBERS_H
#define ACCC_FRONTEND_ATEN_NUMBERS_H

#include "frontend/aten/Call.h"

namespace accc::aten {

/// The value of a function such as mul, floordiv or sym_max of Python numbers. Throws ImportError
/// for functions that are not known, and where the result does not fit.
Local evaluateNumbers(llvm::StringRef name, llvm::ArrayRef<Local> arguments);

/// The same of numbers of which some are tensors, for they depend on data. So does the result.
Local evaluateNumbers(Caller &caller, mlir::Location loc, llvm::StringRef name,
                      llvm::ArrayRef<Local> arguments);

/// The number that a tensor of one element is, as a tensor that stands for it.
Local numberOf(Caller &caller, mlir::Location loc, const MutableTensor &tensor);

/// The number that a tensor of one element is, as Tensor.item() gives it. Throws ImportError for
/// more elements, and for a complex one.
Local numberOf(mlir::DenseElementsAttr value);

/// The same of all elements, row by row.
std::vector<Local> allNumbersOf(mlir::DenseElementsAttr value);

} // namespace accc::aten

#endif
