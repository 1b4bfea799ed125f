// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CORE_CHECKDESCRIPTION_H
#define ACCC_RUNTIME_CORE_CHECKDESCRIPTION_H

#include "accc/abi.h"

#include <string>
#include <string_view>

namespace accc::detail {

/// Holds what a library says of itself against what this runtime and this machine can do. Throws
/// Error that starts with `path`: data for another ABI version, machine for a target or
/// instructions that are not here, bug for a description that breaks the contract of abi.h.
/// Gives the code for this machine, the first that it can run or the one that the environment
/// variable ACCC_ARCH names; where `target` is given, of those for it. Without `toRun` it need not
/// be able to: the first code then.
const accc_code &checkDescription(const accc_model_description *description,
                                  const std::string &path, bool toRun, std::string_view target);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CORE_CHECKDESCRIPTION_H
