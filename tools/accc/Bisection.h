// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc diff --bisect: which phase, op or kernel is wrong.
#ifndef ACCC_TOOLS_ACCC_BISECTION_H
#define ACCC_TOOLS_ACCC_BISECTION_H

#include "accc/tensor.h"
#include "driver/Options.h"

#include <filesystem>

namespace accc::tool {

/// Prints the search and what it found; gives the exit code: 1 if something is wrong.
int bisectAndPrint(const CompileOptions &options, const TensorMap &inputs, double learningRate,
                   const std::filesystem::path &goldens, const std::filesystem::path &scratch);

} // namespace accc::tool

#endif
