// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which steps of an entry point have to wait for which: not for all that come before, but for those
// whose memory they read or write. The others may run side by side.
#ifndef ACCC_RUNTIME_CORE_STEPORDER_H
#define ACCC_RUNTIME_CORE_STEPORDER_H

#include "accc/abi.h"

#include <cstddef>
#include <span>
#include <vector>

namespace accc::detail {

/// For each of accc_entry.steps the earlier ones that it directly waits for, in ascending order;
/// what these wait for in turn is left out. A step waits for the one that wrote what it reads, and
/// for all that read or wrote what it writes. A check, behind which the state changes, a custom
/// call, which may keep something between its calls, and agreement with other processes wait for
/// all steps before them, and all later ones for them. Collectives, which all processes make in one
/// order, wait for each other. The status is no reason to wait: kernels that set it are followed by
/// a check. `scratch` is for each step the number of the scratch block that it writes, or negative.
std::vector<std::vector<size_t>> stepsToWaitFor(const accc_entry &entry,
                                                std::span<const int> scratch);

/// The same where only collectives run beside the other steps, each of which waits for the one
/// before it.
std::vector<std::vector<size_t>> stepsBesideCollectives(const accc_entry &entry);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CORE_STEPORDER_H
