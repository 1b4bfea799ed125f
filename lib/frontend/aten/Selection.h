// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of a tensor that a mask selects, x[mask], where it depends on data how many there are.
#ifndef ACCC_FRONTEND_ATEN_SELECTION_H
#define ACCC_FRONTEND_ATEN_SELECTION_H

#include "frontend/aten/Call.h"

namespace accc::aten {

bool hasSelection(const std::vector<NamedLocal> &arguments);

/// What a call reads by a mask of which the value is not known; nothing for other calls.
std::optional<Selection> readByMask(Caller &caller, mlir::Location loc, const Operator &op,
                                    const llvm::StringMap<Local> &locals, llvm::StringRef name);

/// Calls an operator that takes selections: an elementwise one, which gives another; one that
/// writes them back to where the same mask is true; a sum, a mean, or a loss that is one. Throws
/// ImportError for others, which says why the mask is not known.
std::vector<Local> callOnSelections(Caller &caller, mlir::Location loc, llvm::StringRef op,
                                    const std::vector<NamedLocal> &arguments,
                                    const llvm::StringMap<Local> &locals, llvm::StringRef name);

} // namespace accc::aten

#endif
