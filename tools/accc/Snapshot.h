// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a library says of itself, as JSON that goldens keep and two of which are compared.
#ifndef ACCC_TOOLS_ACCC_SNAPSHOT_H
#define ACCC_TOOLS_ACCC_SNAPSHOT_H

#include "DiffReport.h"

#include "accc/model.h"

#include <nlohmann/json.hpp>

namespace accc::tool {

/// An entry point's name and sizes, "train_step batch=64".
std::string fullName(const accc_entry &entry);

/// {manifest, interface, kernels, memory}, each as deep as it has parts:
///   manifest   as in the library; the options of loss and optimizer with their defaults
///   interface  entry points with inputs and outputs, variables
///   kernels    by machine, entry point and label, how many launches or library calls, and
///              fingerprints of the kernels' code
///   memory     bytes; "working bytes" only where this machine runs the library
nlohmann::ordered_json describeForDiff(const std::string &library);

/// Adds the sections manifest, interface, kernels and memory. Entry points of different sizes are
/// the same where they take the same inputs, and so is a target's code where each has one of it.
void compareSnapshots(const nlohmann::ordered_json &a, nlohmann::ordered_json b,
                      DiffReport &report);

} // namespace accc::tool

#endif
