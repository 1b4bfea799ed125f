// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The libraries that --custom-ops names.
#ifndef ACCC_DRIVER_CUSTOMOPS_H
#define ACCC_DRIVER_CUSTOMOPS_H

#include "driver/Pipeline.h"
#include "ir/prim/CustomOperators.h"

#include "llvm/Support/Error.h"

namespace accc {

/// The operators of all libraries. An error names the option that is at fault.
llvm::Expected<prim::CustomOperators>
loadCustomOperators(const std::vector<std::string> &libraries);

/// Reports each custom call of the model as imported that its library does not know or refuses, or
/// for which it has no function for one of the compilation's targets, in the forward pass or, where
/// the model is trained, in the backward pass.
mlir::LogicalResult checkCustomCalls(Compilation &c);

} // namespace accc

#endif
