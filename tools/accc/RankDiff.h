// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares what several processes make of parts of a batch with what one makes of the whole.
#ifndef ACCC_TOOLS_ACCC_RANKDIFF_H
#define ACCC_TOOLS_ACCC_RANKDIFF_H

#include "LibraryDiff.h"

namespace accc::tool {

/// Trains a library that was compiled with --data-parallel in `ranks` threads that stand for
/// processes, each on its part of the rows, and alone on all rows, from the same weights and data,
/// and holds losses and all variables of the one against those of the other: the section
/// `numbers`. All threads must have the same bits. Does so for every pair of sizes of the library
/// of which one has `ranks` times the rows of the other. Throws Error (usage) where there is none.
void diffRanks(const std::string &library, int ranks, const RunSettings &settings,
               DiffReport &report);

} // namespace accc::tool

#endif
