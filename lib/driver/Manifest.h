// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a library says about its making.
#ifndef ACCC_DRIVER_MANIFEST_H
#define ACCC_DRIVER_MANIFEST_H

#include "driver/InputHashes.h"
#include "driver/Options.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace accc {

/// What an import found of how the model was exported (ImportResult).
struct ExportNotes {
  std::vector<std::string> recovered;
  std::map<std::string, std::vector<std::string>> aliases;
  std::string damage;
};

/// JSON: compiler, model (file name), model_xxh128 (of each of its files, InputHashes), loss and
/// optimizer (of several training steps lists), all options of both (loss_options,
/// optimizer_options; of several steps by their names), train, param_groups (lists of regular
/// expression and options; group_options), learning_rate (what a trainer uses where it says nothing
/// else), target, arch, precision, inputs, dimensions, freeze; recovered
/// (parameters that the exporter changed and the importer restored), aliases (other names of a
/// variable, by its name), accepted_damage. Holds no path, time or machine, so that the same input
/// gives the same bytes.
std::string makeManifest(const CompileOptions &options, const InputHashes &files,
                         const ExportNotes &notes);

/// The options as a command line, without the files that are read and written.
std::string describeOptions(const CompileOptions &options);

} // namespace accc

#endif
