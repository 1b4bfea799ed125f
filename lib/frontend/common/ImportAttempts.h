// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Imports that begin anew with what they found out.
#ifndef ACCC_FRONTEND_COMMON_IMPORTATTEMPTS_H
#define ACCC_FRONTEND_COMMON_IMPORTATTEMPTS_H

#include "frontend/common/ImportResult.h"

#include <set>
#include <string>
#include <utility>

namespace accc::frontend {

/// An import that took some variables as known.
struct ImportAttempt {
  ImportResult result;
  /// Those of them that the program writes into.
  std::set<std::string> falseConstants;
};

/// Which variables are written into shows only at the end of an import: then it begins anew.
/// `attempt` imports, given the names of those that are.
template <typename Attempt> ImportResult importUntilWritesAreKnown(Attempt attempt) {
  std::set<std::string> written;
  while (true) {
    ImportAttempt last = attempt(std::as_const(written));
    size_t known = written.size();
    written.merge(last.falseConstants);
    if (written.size() == known)
      return std::move(last.result);
  }
}

} // namespace accc::frontend

#endif
