// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/ImportAttempts.h"

using namespace accc;
using namespace accc::frontend;

ImportResult frontend::importUntilWritesAreKnown(
    llvm::function_ref<ImportAttempt(const std::set<std::string> &written)> attempt) {
  std::set<std::string> written;
  while (true) {
    ImportAttempt last = attempt(written);
    size_t known = written.size();
    written.merge(last.falseConstants);
    if (written.size() == known)
      return std::move(last.result);
  }
}
