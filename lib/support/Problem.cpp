// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/Problem.h"

std::string accc::describe(const Problem &problem) {
  std::string where;
  if (!problem.node.empty())
    where = "node '" + problem.node + "'";
  if (!problem.op.empty())
    where += (where.empty() ? "(" : " (") + problem.op + ")";
  return where.empty() ? problem.message : where + ": " + problem.message;
}
