// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entry points of importers whose files are archives.
#ifndef ACCC_FRONTEND_COMMON_IMPORTARCHIVE_H
#define ACCC_FRONTEND_COMMON_IMPORTARCHIVE_H

#include "frontend/common/Archive.h"
#include "frontend/common/ImportResult.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace accc::frontend {

using ArchiveImporter = llvm::function_ref<ImportResult(const Archive &)>;

/// What `import` makes of the archive. Whatever ends it, and what is wrong with the archive itself,
/// is a problem of the result.
ImportResult importArchive(llvm::StringRef path, ArchiveImporter import);
/// The same of an archive in memory, which must outlive the result.
ImportResult importArchiveBytes(llvm::StringRef bytes, ArchiveImporter import);

} // namespace accc::frontend

#endif
