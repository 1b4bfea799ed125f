// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The torch.export importer: an archive of torch.export.save in, `@forward` in nn and prim out.
#ifndef ACCC_FRONTEND_TORCHEXPORT_IMPORT_H
#define ACCC_FRONTEND_TORCHEXPORT_IMPORT_H

#include "frontend/common/ImportResult.h"

#include "llvm/ADT/StringRef.h"

namespace accc {

/// Reads the exported program at `path`. The file need not be trusted: whatever is wrong with it
/// becomes a problem. Never throws.
///
/// Parameters and buffers bear their names in the module; tied ones are one, under the first of
/// their names. Inputs bear the names of forward's arguments; outputs the keys of a returned dict,
/// else output_0, output_1, ... Dimensions are open under their position (`x.0`) and their symbol.
ImportResult importTorchExport(llvm::StringRef path, const ImportOptions &options,
                               mlir::MLIRContext &context);

/// The same for a program in memory.
ImportResult importTorchExportBytes(llvm::StringRef bytes, const ImportOptions &options,
                                    mlir::MLIRContext &context);

} // namespace accc

#endif
