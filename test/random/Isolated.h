// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cases in processes of their own, so that one that crashes is a failure like any other.
#ifndef ACCC_TEST_RANDOM_ISOLATED_H
#define ACCC_TEST_RANDOM_ISOLATED_H

#include "Check.h"

#include <functional>

namespace accc::test {

/// Calls `makeCase(i)` and checks what it gives for every i in [0, count), each in a process of its
/// own, `jobs` at a time; gives the verdicts to `report` in any order. The caller's process must
/// have one thread. A crash is a failure of the kind "crash: signal N", and so is what takes more
/// than `seconds` of processor time.
struct Isolation {
  int jobs = 2, seconds = 120;
};
void checkIsolated(int64_t count, const Isolation &isolation, const CheckOptions &options,
                   const std::function<mlir::OwningOpRef<mlir::ModuleOp>(int64_t)> &makeCase,
                   const std::function<void(int64_t, Verdict)> &report);

/// Checks one case in a process of its own.
Verdict checkIsolated(mlir::ModuleOp module, const CheckOptions &options);

} // namespace accc::test

#endif
