// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_FUSION_RECOMPUTEINPUTS_H
#define ACCC_FUSION_RECOMPUTEINPUTS_H

#include "fusion/Groups.h"

namespace accc {

/// Takes values out of memory that one kernel writes for others where these can as well compute
/// them from what lies in memory anyway: the sigmoid of SiLU, which the backward needs, from its
/// input. What a kernel computes again is pointwise arithmetic.
///
/// Only where it is free. At no step is more memory live than before (but for such as a mean, of a
/// few elements beside the value that goes); all kernels together read and write fewer bytes, by
/// enough to pay for the elementary functions that are evaluated again; and every kernel stays one
/// that `Groups` allows. Recomputation that trades time for memory is not meant here. Calls
/// `note(producer, reader)` for each.
void recomputeInputs(mlir::Block &block, Groups &groups, const Target &target,
                     llvm::function_ref<void(mlir::Operation *, mlir::Operation *)> note);

} // namespace accc

#endif
