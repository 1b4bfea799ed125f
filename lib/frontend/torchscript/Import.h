// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The TorchScript importer: an archive of torch.jit.save in, `@forward` in nn and prim out.
#ifndef ACCC_FRONTEND_TORCHSCRIPT_IMPORT_H
#define ACCC_FRONTEND_TORCHSCRIPT_IMPORT_H

#include "frontend/common/ImportResult.h"

#include "llvm/ADT/StringRef.h"

namespace accc {

/// Whether the archive at `path` holds TorchScript's code.
bool isTorchScript(llvm::StringRef path);

/// Reads the module at `path`. The file need not be trusted: whatever is wrong with it becomes a
/// problem. Never throws.
///
/// Parameters and buffers bear their paths in the module; tied ones are one, under the first of
/// their names. Inputs bear the names of forward's arguments; outputs the keys of a returned dict,
/// else output_0, output_1, ... Element types and shapes of inputs are those of `inputTypes`, else
/// those of the examples that a trace kept, whose dimensions can be given by position (`x.0`).
ImportResult importTorchScript(llvm::StringRef path, const ImportOptions &options,
                               mlir::MLIRContext &context);

/// The same for a module in memory.
ImportResult importTorchScriptBytes(llvm::StringRef bytes, const ImportOptions &options,
                                    mlir::MLIRContext &context);

} // namespace accc

#endif
