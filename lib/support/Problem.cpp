// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/Problem.h"

std::string accc::describe(const Problem &problem) {
  std::string where, at = problem.sizes.empty() ? "" : "with -D " + problem.sizes + ": ";
  if (!problem.node.empty())
    where = "node '" + problem.node + "'";
  if (!problem.op.empty())
    where += (where.empty() ? "(" : " (") + problem.op + ")";
  return at + (where.empty() ? problem.message : where + ": " + problem.message);
}

const char *accc::nameOf(Fault fault) {
  switch (fault) {
  case Fault::Data:
    return "data";
  case Fault::Usage:
    return "usage";
  case Fault::Machine:
    return "machine";
  case Fault::Bug:
    return "bug";
  }
  return "";
}

const char *accc::nameOf(Problem::Severity severity) {
  switch (severity) {
  case Problem::Severity::Note:
    return "note";
  case Problem::Severity::Warning:
    return "warning";
  case Problem::Severity::Error:
    return "error";
  }
  return "";
}
