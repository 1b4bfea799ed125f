// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_FUSION_OUTLINE_H
#define ACCC_FUSION_OUTLINE_H

#include "fusion/Groups.h"

namespace accc {

/// Replaces the ops of every group by one prim.fusion and orders the block so that everything
/// stands after what it reads, as late as its last op stood.
void outlineGroups(mlir::Block &block, const Groups &groups);

} // namespace accc

#endif
