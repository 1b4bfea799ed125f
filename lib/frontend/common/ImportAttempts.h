// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Imports that begin anew with what they found out.
#ifndef ACCC_FRONTEND_COMMON_IMPORTATTEMPTS_H
#define ACCC_FRONTEND_COMMON_IMPORTATTEMPTS_H

#include "frontend/common/ImportResult.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <set>
#include <string>

namespace accc::frontend {

/// An import that took some variables as known.
struct ImportAttempt {
  ImportResult result;
  /// Those of them that the program writes into.
  std::set<std::string> falseConstants;
};

/// Which variables are written into shows only at the end of an import: then it begins anew.
/// `attempt` imports, given the names of those that are.
ImportResult importUntilWritesAreKnown(
    llvm::function_ref<ImportAttempt(const std::set<std::string> &written)> attempt);

} // namespace accc::frontend

#endif
