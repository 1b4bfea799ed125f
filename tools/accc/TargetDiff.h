// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The targets of one library held against each other.
#ifndef ACCC_TOOLS_ACCC_TARGETDIFF_H
#define ACCC_TOOLS_ACCC_TARGETDIFF_H

#include <cstdint>
#include <string>

namespace accc::tool {

struct TargetDiffOptions {
  std::string library;
  std::string params; ///< weights to start from, as fillWeights() takes them
  std::string inputs; ///< data; where empty random, of all sizes that the library holds
  int64_t steps = 3;  ///< of training
  double tolerance = 1e-4;
  bool failedOnly = false;
};

/// Runs the library's entry points on each of its targets, from the same weights and data, and
/// holds outputs, losses, gradients and, after the steps, all variables against those of its last
/// target. Prints the verdicts and returns the exit code. Throws Error (usage) where it has only
/// one target, and (machine) where this machine lacks one.
int diffTargets(const TargetDiffOptions &options);

} // namespace accc::tool

#endif
