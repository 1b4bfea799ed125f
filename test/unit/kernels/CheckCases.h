// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests of kernels by cases have in common.
#ifndef ACCC_TEST_UNIT_KERNELS_CHECKCASES_H
#define ACCC_TEST_UNIT_KERNELS_CHECKCASES_H

#include "kernels/Harness.h"

#include <catch2/catch.hpp>
#include <span>

namespace accc::test {

/// A section for each case and each of two CPUs, the oldest that is supported and this one.
inline void checkKernelCases(std::span<const KernelCase> cases) {
  for (const KernelCase &test : cases)
    for (const char *arch : {"x86-64-v3", "native"}) {
      DYNAMIC_SECTION(test.name << " on " << arch) {
        KernelOutcome outcome = runKernelCase(test, arch);
        INFO(outcome.error);
        CHECK(outcome.error.empty());
      }
    }
}

} // namespace accc::test

#endif // ACCC_TEST_UNIT_KERNELS_CHECKCASES_H
