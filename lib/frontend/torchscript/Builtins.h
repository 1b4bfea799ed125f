// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of TorchScript whose results are known at compile time.
#ifndef ACCC_FRONTEND_TORCHSCRIPT_BUILTINS_H
#define ACCC_FRONTEND_TORCHSCRIPT_BUILTINS_H

#include "frontend/torchscript/IValue.h"

#include "llvm/ADT/StringMap.h"

namespace accc::torchscript {

/// The value of "len", "size", "__contains__", "format" or arithmetic on numbers; nothing for
/// functions that compute with the elements of tensors. Throws ImportError for arguments that the
/// function does not take.
std::optional<IValue> evaluateBuiltin(Heap &heap, llvm::StringRef name,
                                      llvm::ArrayRef<IValue> arguments);

/// A function of what it is given, and how many arguments it takes.
struct Builtin {
  IValue (*function)(Heap &heap, llvm::ArrayRef<IValue> arguments);
  size_t least, most;
};
/// Those whose first argument is a list, a tuple or a dict (Containers.cpp), or a string
/// (Texts.cpp).
const llvm::StringMap<Builtin> &ofContainers();
const llvm::StringMap<Builtin> &ofTexts();

/// A position in a sequence of this length, made positive. Throws ImportError outside it.
size_t positionIn(size_t length, const IValue &index);
/// The positions in a sequence of this length that Python's [start:end:step] names; each may be
/// None or left out.
llvm::SmallVector<size_t> slicePositions(size_t length, llvm::ArrayRef<IValue> slice);

} // namespace accc::torchscript

#endif
