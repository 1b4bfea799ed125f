// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Library calls as entries of their own, on a GPU.
#ifndef ACCC_TEST_GPU_LIBRARYCALLS_H
#define ACCC_TEST_GPU_LIBRARYCALLS_H

#include "Calls.h"
#include "accc/tensor.h"
#include "core/Device.h"

#include <span>
#include <vector>

namespace accc::test {

const detail::Platform &gpuPlatform();

/// Numbers as elements of a type, each rounded to a multiple of 1/16: all types have these.
Tensor tensorOf(int32_t type, std::vector<float> &values);
double elementOf(const Tensor &tensor, size_t index);

accc_entry entryOf(const accc_library_call &call, const std::vector<accc_value> &inputs,
                   const std::vector<accc_step> &steps, const std::vector<accc_buffer> &buffers);
/// Without kernels.
accc_code codeOf(std::span<const accc_entry> entries);

/// The last buffer after the call, which is made twice: as it is and replayed. It is a part of the
/// state, so that what it held before can be set. Of several steps that make the call, each with
/// operands of its own in `given`, the last buffers of all, one behind the other.
Tensor resultOf(const accc_library_call &call, const std::vector<detail::Source> &given,
                const Tensor &before, size_t steps = 1);

/// `precision` is relative to the largest element of `right`, or to 1.
void checkElements(const Tensor &result, const std::vector<double> &right, double precision);
/// Of a result of this type.
double precisionOf(int32_t type);

} // namespace accc::test

#endif // ACCC_TEST_GPU_LIBRARYCALLS_H
