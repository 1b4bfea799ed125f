// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes at which the compiler takes another way.
#ifndef ACCC_SUPPORT_SIZETHRESHOLD_H
#define ACCC_SUPPORT_SIZETHRESHOLD_H

#include <cstdint>

namespace accc {

/// `size`, or in a build with ACCC_SMALL_THRESHOLDS 1/256 of it: there the small tensors of tests
/// take the ways of large ones (several tasks, shared reads, split reductions). For every constant
/// that says from which size on a way is worth it.
constexpr int64_t sizeThreshold(int64_t size) {
#ifdef ACCC_SMALL_THRESHOLDS
  return size / 256 > 0 ? size / 256 : 1;
#else
  return size;
#endif
}

} // namespace accc

#endif
