// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which inputs a kernel may write over.
#ifndef ACCC_IR_PRIM_INPLACE_H
#define ACCC_IR_PRIM_INPLACE_H

#include "ir/prim/Prim.h"

#include "mlir/IR/Block.h"

namespace accc::prim {

/// True if the element of every output at an index is computed from the element of `argument` at
/// the same row-major index only, and so is all else that the kernel reads of it: the memory of the
/// argument may be that of an output of as many elements of the same width. `kind` is the kernel's.
bool readsInPlace(mlir::Block &body, KernelKind kind, unsigned argument);

} // namespace accc::prim

#endif
