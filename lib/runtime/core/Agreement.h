// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the processes of a group ask each other before they go on.
#ifndef ACCC_RUNTIME_CORE_AGREEMENT_H
#define ACCC_RUNTIME_CORE_AGREEMENT_H

#include "accc/abi.h"
#include "accc/group.h"
#include "core/Device.h"

#include <cstdint>
#include <vector>

namespace accc::detail {

/// Whether it is true in all processes, which all ask.
bool isTrueForAll(Group &group, bool isTrue);

/// Whether all processes, which all ask, have this number.
bool isSameForAll(Group &group, uint64_t number);

/// A number for an entry point, for what it exchanges, and in which order: sums of what does not
/// fit together would be wrong without a word.
uint64_t fingerprintOf(const accc_entry &entry);

/// The learning rate among the inputs of a run; 0 where the entry point takes none.
double learningRateOf(const accc_entry &entry, const std::vector<Source> &inputs);

/// Throws Error (usage), in all processes, where those of the group are about to run entry points,
/// or sizes of one, that exchange other tensors, or to update by other learning rates, from which
/// on they would not hold the same bits. `fingerprint` is that of `entry`.
void requireSameForAll(Group &group, const accc_entry &entry, uint64_t fingerprint,
                       double learningRate);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CORE_AGREEMENT_H
