// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on the tensors that processes exchange, of the types that Group::sum takes.
#ifndef ACCC_RUNTIME_CORE_GROUPMATH_H
#define ACCC_RUNTIME_CORE_GROUPMATH_H

#include "accc/tensor.h"

#include <cstddef>

namespace accc::detail {

/// to[i] = from[i] * factor; the two may be the same memory. Not for i64. 16-bit floats are
/// multiplied in f32.
void scale(void *to, const void *from, size_t count, DType type, double factor);

/// sum[i] += value[i].
void add(void *sum, const void *value, size_t count, DType type);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CORE_GROUPMATH_H
