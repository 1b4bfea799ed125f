// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares the targets of one library.
#ifndef ACCC_TOOLS_ACCC_TARGETDIFF_H
#define ACCC_TOOLS_ACCC_TARGETDIFF_H

#include "LibraryDiff.h"

namespace accc::tool {

/// Runs the library's entry points on each of its targets, from the same weights and data, and
/// holds outputs, losses, gradients and, after the steps, all variables against those of its last
/// target: the section `numbers`. Throws Error (usage) where it has only one target, and (machine)
/// where this machine lacks one.
void diffTargets(const std::string &library, const RunSettings &settings, DiffReport &report);

} // namespace accc::tool

#endif
