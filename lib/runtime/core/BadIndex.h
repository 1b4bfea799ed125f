// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which element of an input made a step fail.
#ifndef ACCC_RUNTIME_CORE_BADINDEX_H
#define ACCC_RUNTIME_CORE_BADINDEX_H

#include "accc/abi.h"

#include <string>

namespace accc::detail {

/// "target[3] = 500: classes are 0 to 9", of the first element of an input that is outside its
/// bounds; empty where there is none. `data` are the input's bytes.
std::string describeBadIndex(const accc_value &input, const void *data);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CORE_BADINDEX_H
