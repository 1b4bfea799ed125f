// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single floats of entry points: losses and learning rates, in f64 where the model is, else in f32.
#ifndef ACCC_RUNTIME_CORE_SCALAR_H
#define ACCC_RUNTIME_CORE_SCALAR_H

#include "accc/tensor.h"

#include <string>

namespace accc::detail {

/// The only element of a tensor of f32 or f64.
double floatOf(const Tensor &scalar);

/// Makes `value` the only element of a tensor of f32 or f64.
void setFloat(Tensor &scalar, double value);

/// The shortest text that reads as this number again.
std::string shortest(double value);
std::string shortest(float value);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CORE_SCALAR_H
