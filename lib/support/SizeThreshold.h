// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes at which the compiler takes another way.
#ifndef ACCC_SUPPORT_SIZETHRESHOLD_H
#define ACCC_SUPPORT_SIZETHRESHOLD_H

#include <cstdint>

namespace accc {

/// `size`, divided by getSizeDivisor() and at least 1. For every number of elements, rows or bytes
/// from which on a way is worth it: under test, small tensors take the ways of large ones (several
/// tasks, shared reads, split reductions).
int64_t sizeThreshold(int64_t size);

/// 1, or what the environment's ACCC_SIZE_DIVISOR says, which is for tests: whole suites take other
/// ways so. A value that is no positive number ends the process with a message.
int64_t getSizeDivisor();

/// Sets it for this process, before it compiles anything.
void setSizeDivisor(int64_t divisor);

} // namespace accc

#endif
