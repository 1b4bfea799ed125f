// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses to memory: where the bytes are, and everything that may be wrong with them.
#ifndef ACCC_REFERENCE_PTX_TOUCH_H
#define ACCC_REFERENCE_PTX_TOUCH_H

#include "reference/ptx/Warp.h"

namespace accc::ptx {

/// The addresses of an access, lane by lane.
struct Addresses {
  uint64_t of[warpSize];
};
Addresses addressesOf(const Warp &warp, const Access &access);

/// The bytes that one lane accesses at `address`, after all checks: bounds, alignment, bytes never
/// written, races. They count as written from now on where the access writes. Throws Fault.
/// `cached` is the number of the access, to remember the allocation by.
std::byte *touch(Warp &warp, const Access &access, uint32_t cached, unsigned lane,
                 uint64_t address);

/// Counts sectors, bytes and wavefronts of a warp's access.
void countAccess(Warp &warp, const Access &access, uint32_t mask, const Addresses &addresses);

} // namespace accc::ptx

#endif
