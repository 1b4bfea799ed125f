// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/ImportResult.h"

std::string accc::ImportProblem::text() const {
  std::string where;
  if (!node.empty())
    where = "node '" + node + "'";
  if (!opType.empty())
    where += (where.empty() ? "" : " ") + ("(" + opType + ")");
  return where.empty() ? message : where + ": " + message;
}
