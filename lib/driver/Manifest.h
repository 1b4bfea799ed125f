// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a library says about its making.
#ifndef ACCC_DRIVER_MANIFEST_H
#define ACCC_DRIVER_MANIFEST_H

#include "driver/Options.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace accc {

/// JSON: compiler, model (file name and hash), loss, optimizer, all options of both (loss_options,
/// optimizer_options), learning_rate (what a trainer uses where it says nothing else), target,
/// arch, precision, dimensions, freeze. Holds no path, time or machine, so that the same input
/// gives the same bytes.
std::string makeManifest(const CompileOptions &options, llvm::StringRef inputHash);

/// The options as a command line, without the files that are read and written.
std::string describeOptions(const CompileOptions &options);

} // namespace accc

#endif
