// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How an importer gives up on a node or on a model. Thrown and caught inside the importers only.
#ifndef ACCC_FRONTEND_COMMON_IMPORTERROR_H
#define ACCC_FRONTEND_COMMON_IMPORTERROR_H

#include "llvm/ADT/Twine.h"

#include <string>

namespace accc::frontend {

/// What is wrong with the model, in words for its author.
struct ImportError {
  std::string message;
};

/// A file beside the model cannot be read: its reader reports it, once for all of its tensors.
struct FileError : ImportError {};

/// What ends an import at once, whatever else may be wrong with the model. Only the entry point
/// catches it.
struct ImportAbort {
  std::string message;
};

[[noreturn]] inline void fail(const llvm::Twine &message) { throw ImportError{message.str()}; }

} // namespace accc::frontend

#endif
