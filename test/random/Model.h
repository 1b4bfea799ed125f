// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random models: a forward function, a loss, an optimizer.
#ifndef ACCC_TEST_RANDOM_MODEL_H
#define ACCC_TEST_RANDOM_MODEL_H

#include "Case.h"

namespace accc::test {

/// A valid model with its options (Case.h). The same seed gives the same module.
mlir::OwningOpRef<mlir::ModuleOp> randomModel(mlir::MLIRContext *context, uint64_t seed);

} // namespace accc::test

#endif
