// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the processes of a group ask each other before they go on.
#ifndef ACCC_RUNTIME_CORE_AGREEMENT_H
#define ACCC_RUNTIME_CORE_AGREEMENT_H

#include "accc/abi.h"
#include "accc/group.h"

#include <cstdint>
#include <string>

namespace accc::detail {

/// Whether it is true in all processes, which all ask.
bool isTrueForAll(Group &group, bool isTrue);

/// Whether all processes, which all ask, have this number.
bool isSameForAll(Group &group, uint64_t number);

/// A number for what an entry point exchanges, and in which order: sums of what does not fit
/// together would be wrong without a word.
uint64_t fingerprintOf(const accc_entry &entry);

/// Throws Error (usage), in all processes, where those of the group are about to run entry points,
/// or sizes of one, that exchange other tensors. `fingerprint` is that of `entry`.
void requireSameForAll(Group &group, const accc_entry &entry, uint64_t fingerprint);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CORE_AGREEMENT_H
