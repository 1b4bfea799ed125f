// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes of lib/training; Passes.td says what each does.
#ifndef ACCC_TRAINING_PASSES_H
#define ACCC_TRAINING_PASSES_H

#include "ir/nn/Nn.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace accc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "training/Passes.h.inc"

} // namespace accc

#endif
