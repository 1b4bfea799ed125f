// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on sizes, which are known while importing.
#ifndef ACCC_FRONTEND_TORCHEXPORT_SYMBOLIC_H
#define ACCC_FRONTEND_TORCHEXPORT_SYMBOLIC_H

#include "frontend/aten/Call.h"

namespace accc::torchexport {

/// The value of a node such as _operator.mul or torch.sym_max. Throws ImportError for functions
/// that are not known, and where the result does not fit.
aten::Local evaluateSymbolic(llvm::StringRef target, llvm::ArrayRef<aten::Local> arguments);

} // namespace accc::torchexport

#endif
