// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_DATA_ALIASES_H
#define ACCC_RUNTIME_DATA_ALIASES_H

#include <map>
#include <string>

namespace accc::detail {

/// The other names of a model's variables, tied parameters of the module that it was exported from:
/// {alias: variable}, of a library's manifest. Empty where that has none.
std::map<std::string, std::string, std::less<>> readAliases(const char *manifest);

} // namespace accc::detail

#endif // ACCC_RUNTIME_DATA_ALIASES_H
