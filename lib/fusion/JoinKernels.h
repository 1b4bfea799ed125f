// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel of two that are formed already.
#ifndef ACCC_FUSION_JOINKERNELS_H
#define ACCC_FUSION_JOINKERNELS_H

#include "ir/prim/Prim.h"
#include "target/Target.h"

namespace accc {

/// Makes one kernel of both, of one block, in the place of `into`; what reads `kernel` runs behind
/// it then. What both compute is computed once, what only the other read is not written. Null, and
/// nothing has changed, where it may not be one kernel, or something needs the one and is needed by
/// the other.
prim::FusionOp joinKernels(prim::FusionOp kernel, prim::FusionOp into, const Target &target);

} // namespace accc

#endif
