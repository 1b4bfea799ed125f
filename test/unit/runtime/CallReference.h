// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What library calls must give, for the tests of every device.
#ifndef ACCC_TEST_RUNTIME_CALLREFERENCE_H
#define ACCC_TEST_RUNTIME_CALLREFERENCE_H

#include "Calls.h"

#include <tuple>
#include <vector>

namespace accc::test {

/// The definition in abi.h, in double precision, with the strides as they are; `c` is what was
/// there before, `bias` that of an epilogue, if there is one.
std::vector<double> expectedMatmul(const accc_matmul &p, const std::vector<float> &a,
                                   const std::vector<float> &b, const std::vector<float> &c,
                                   const std::vector<float> &bias = {});

/// Elements of the three buffers of a convolution of any kind.
std::tuple<size_t, size_t, size_t> operandSizes(const accc_library_call &call);

/// The third buffer of a convolution of any kind, in double precision.
std::vector<double> expectedConvolution(const accc_library_call &call,
                                        const std::vector<float> &first,
                                        const std::vector<float> &second);

extern const std::vector<ConvolutionSpec> convolutionSpecs;

struct MatmulExtents {
  int64_t batch, m, n, k;
};
/// Extents that ways of multiplying differ in; and those of products of nothing.
extern const std::vector<MatmulExtents> matmulExtents, emptyMatmulExtents;
/// Attention's q k^T out of tensors [batch 2, sequence 3, heads 4, width 5], to [2, 4, 3, 3].
accc_library_call attentionMatmul();

} // namespace accc::test

#endif // ACCC_TEST_RUNTIME_CALLREFERENCE_H
