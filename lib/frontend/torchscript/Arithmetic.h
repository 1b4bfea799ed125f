// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Python's numbers, which are known while importing.
#ifndef ACCC_FRONTEND_TORCHSCRIPT_ARITHMETIC_H
#define ACCC_FRONTEND_TORCHSCRIPT_ARITHMETIC_H

#include "frontend/torchscript/IValue.h"

namespace accc::torchscript {

/// An integer, a float or a bool.
bool isNumber(const IValue &value);
/// The value of an integer. Throws ImportError for others.
int64_t integer(const IValue &value);
/// Whether a number is not 0. Throws ImportError for other values.
bool truth(const IValue &value);

/// The value of "add", "floordiv" or "sqrt" of numbers; nothing for functions that are not known.
std::optional<IValue> evaluateArithmetic(llvm::StringRef name, llvm::ArrayRef<IValue> numbers);
/// The sum, the greatest or the least of a list of numbers; nothing for other functions and lists.
std::optional<IValue> evaluateReduction(llvm::StringRef name, llvm::ArrayRef<IValue> values);

} // namespace accc::torchscript

#endif
