// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CPU_DEPTHWISEWEIGHTS_H
#define ACCC_RUNTIME_CPU_DEPTHWISEWEIGHTS_H

#include "Team.h"
#include "accc/abi.h"

namespace accc::detail {

/// Whether depthwiseWeights() can do it, and better than oneDNN: 2-D, one input channel a group,
/// one output channel each, at least 16 of them, more than 3 columns in the kernel, of at most 1024
/// elements.
bool isDepthwiseForWeights(const accc_convolution &call);

/// The gradient of a depthwise convolution with respect to its weights:
///   dw[c, kh, kw] = sum over n, oh, ow of x[n, ih, iw, c] * dy[n, oh, ow, c]
/// x and dy lie channels last, whatever `call` says of its layout; dw is [C, 1, KH, KW].
///
/// oneDNN 2.6.3 has no kernel of its own for more than 3 columns and falls back to 6 (channels
/// first) or 28 GFLOP/s (channels last) on two Zen 5 cores. This one does 200 to 340 there.
void depthwiseWeights(const accc_convolution &call, const float *x, const float *dy, float *dw,
                      const Team &team);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CPU_DEPTHWISEWEIGHTS_H
