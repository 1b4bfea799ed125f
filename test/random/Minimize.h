// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a failing case to a small one.
#ifndef ACCC_TEST_RANDOM_MINIMIZE_H
#define ACCC_TEST_RANDOM_MINIMIZE_H

#include "Check.h"

#include <functional>

namespace accc::test {

/// Takes ops, results, arguments, options and extents away for as long as `fails` says that what is
/// left still fails. It is asked about valid modules only.
void minimize(mlir::OwningOpRef<mlir::ModuleOp> &module,
              const std::function<bool(mlir::ModuleOp)> &fails);

} // namespace accc::test

#endif
