// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares two libraries.
#ifndef ACCC_TOOLS_ACCC_LIBRARYDIFF_H
#define ACCC_TOOLS_ACCC_LIBRARYDIFF_H

#include "Goldens.h"

#include <cstdint>
#include <string>

namespace accc::tool {

/// What libraries are run on.
struct RunSettings {
  std::string params; ///< weights to start from, as fillWeights() takes them
  std::string inputs; ///< data; where empty random, of all sizes that the library holds
  int64_t steps = 3;  ///< of training
};

/// All sections of report.a and report.b. The numbers are those of all entry points that both have
/// with the same inputs, from a's weights and the same data, each with its own learning rate.
/// Throws Error (machine) where they are to be compared and this machine cannot run one of the two.
void diffLibraries(const RunSettings &settings, DiffReport &report);

/// Compares what the library says of itself with what the library said of which goldens were
/// recorded; nothing where the goldens do not know that.
void diffDescription(const std::string &library, const std::string &folder, DiffReport &report);

} // namespace accc::tool

#endif
