// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of TorchScript whose results are known at compile time.
#ifndef ACCC_FRONTEND_TORCHSCRIPT_BUILTINS_H
#define ACCC_FRONTEND_TORCHSCRIPT_BUILTINS_H

#include "frontend/torchscript/IValue.h"

namespace accc::torchscript {

/// The value of "len", "size", "__contains__", "format" or arithmetic on numbers; nothing for
/// functions that compute with the elements of tensors. Throws ImportError for arguments that the
/// function does not take.
std::optional<IValue> evaluateBuiltin(Heap &heap, llvm::StringRef name,
                                      llvm::ArrayRef<IValue> arguments);

/// A position in a sequence of this length, made positive. Throws ImportError outside it.
size_t positionIn(size_t length, const IValue &index);

} // namespace accc::torchscript

#endif
