// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CPU_INSTRUCTIONS_H
#define ACCC_RUNTIME_CPU_INSTRUCTIONS_H

#include <optional>
#include <string>
#include <string_view>

namespace accc::detail {

/// What `arch` (accc_code.arch) needs and this CPU is not, as part of a message: "a CPU of the
/// level x86-64-v4", or "a CPU with" the features of "znver4:avx512f,avx512bf16" that are missing;
/// nothing where it can run the code.
std::optional<std::string> missingInstructions(std::string_view arch);

/// Whether Intel made this CPU.
bool isIntel();

} // namespace accc::detail

#endif // ACCC_RUNTIME_CPU_INSTRUCTIONS_H
