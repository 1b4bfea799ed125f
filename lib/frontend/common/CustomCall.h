// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes whose operator is one of the user's own.
#ifndef ACCC_FRONTEND_COMMON_CUSTOMCALL_H
#define ACCC_FRONTEND_COMMON_CUSTOMCALL_H

#include "frontend/common/NodeBuilder.h"

namespace accc::frontend {

/// What to say of an operator that is neither ours nor one of a library that the user gave.
inline constexpr llvm::StringRef kUnknownOperator =
    "the operator is not supported; if it is one of your own, name the shared library that "
    "implements it with --custom-ops";

/// The results of a custom operator. `config` as prim::inferCustomResults takes it. Throws
/// ImportError where the library refuses the inputs; the diagnostic that it made says why.
Entities customCall(const NodeBuilder &node, const prim::CustomOperator &op,
                    llvm::ArrayRef<mlir::Value> inputs,
                    llvm::ArrayRef<mlir::NamedAttribute> config);

} // namespace accc::frontend

#endif
