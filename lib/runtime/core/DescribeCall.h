// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CORE_DESCRIBECALL_H
#define ACCC_RUNTIME_CORE_DESCRIBECALL_H

#include "accc/abi.h"

#include <string>

namespace accc::detail {

/// A library call in a line, without its types: "matmul nt m 256 n 768 k 3072 + bias", with t for a
/// factor that lies transposed; "conv wgrad nhwc n 64 128->256 56x56 k 3x3 s 2x2 p 1x1 g 32" with
/// the channels of input and output, the input's extents, the kernel and strides, then, where they
/// are not the usual, padding (at both ends, where these differ), dilation, groups and the layout
/// of the filter; "attention backward b 8 h 12/4 q 1024 k 1024 d 64 causal" with the heads of keys
/// behind those of queries, where they are fewer, and likewise the features of values.
std::string describe(const accc_library_call &call);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CORE_DESCRIBECALL_H
