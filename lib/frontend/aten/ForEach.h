// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PyTorch's operators on lists of tensors, torch._foreach_mul_ and its like: one call for each
// element of the lists.
#ifndef ACCC_FRONTEND_ATEN_FOREACH_H
#define ACCC_FRONTEND_ATEN_FOREACH_H

#include "frontend/aten/Call.h"

namespace accc::aten {

/// Whether the operator of this name is one: "_foreach_mul_.Scalar".
bool isForEach(llvm::StringRef op);

/// The list of what the operator without the prefix gives for each element; nothing of one that
/// writes into the elements. Throws ImportError.
std::vector<Local> callForEach(Caller &caller, mlir::Location loc, llvm::StringRef op,
                               const std::vector<NamedLocal> &arguments, llvm::StringRef name);

} // namespace accc::aten

#endif
