// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc diff --bisect: which phase, op or kernel is wrong.
#ifndef ACCC_TOOLS_ACCC_BISECTION_H
#define ACCC_TOOLS_ACCC_BISECTION_H

#include "DiffReport.h"

#include "accc/tensor.h"
#include "driver/Driver.h"

#include <filesystem>

namespace accc::tool {

/// Adds the section `bisection`: what was searched, and what is wrong. The outcome is that of the
/// compilation on which it was found.
Outcome bisect(const CompileOptions &options, const TensorMap &inputs, double learningRate,
               const std::filesystem::path &goldens, const std::filesystem::path &scratch,
               DiffReport &report);

} // namespace accc::tool

#endif
