// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a session takes from the manifest of a library (accc_model_description::manifest).
#ifndef ACCC_RUNTIME_DATA_MANIFEST_H
#define ACCC_RUNTIME_DATA_MANIFEST_H

#include <map>
#include <optional>
#include <string>

namespace accc::detail {

/// The other names of a model's variables, tied parameters of the module that it was exported from:
/// {alias: variable}. Empty where the manifest has none.
std::map<std::string, std::string, std::less<>> readAliases(const char *manifest);

/// The `lr` of the (first) optimizer that the library was compiled with; nothing where it has none.
std::optional<double> readLearningRate(const char *manifest);

/// The hashes of the model's files, as accc/weights_file.h says.
std::string readModelHash(const char *manifest);

} // namespace accc::detail

#endif // ACCC_RUNTIME_DATA_MANIFEST_H
