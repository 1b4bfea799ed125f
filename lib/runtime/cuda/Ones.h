// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CUDA_ONES_H
#define ACCC_RUNTIME_CUDA_ONES_H

#include "DeviceMemory.h"
#include "accc/tensor.h"

namespace accc::detail {

/// `count` ones of a type of floats, which a product adds something up with; in the stream's order.
DeviceMemory makeOnes(const Context &context, DType type, uint64_t count);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_ONES_H
