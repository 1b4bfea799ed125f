// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that appear whole or not at all.
#ifndef ACCC_DRIVER_FILES_H
#define ACCC_DRIVER_FILES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace accc {

/// Calls `write` with the name of a new file beside `path`, and gives that file the name `path` if
/// the write succeeded. Otherwise nothing of it stays. `write` returns false if it failed and has
/// said why; the error is then llvm::Error::success() and `written` false.
llvm::Error writeAtomically(llvm::StringRef path, llvm::function_ref<bool(llvm::StringRef)> write,
                            bool &written);

/// The same for what `print` writes.
llvm::Error writeTextAtomically(llvm::StringRef path,
                                llvm::function_ref<void(llvm::raw_ostream &)> print);
/// The same for a text.
llvm::Error writeTextAtomically(llvm::StringRef path, llvm::StringRef text);

} // namespace accc

#endif
