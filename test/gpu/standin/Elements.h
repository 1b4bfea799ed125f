// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_TEST_GPU_STANDIN_ELEMENTS_H
#define ACCC_TEST_GPU_STANDIN_ELEMENTS_H

#include "Device.h"

namespace standin {

enum class Type { F16, BF16, F32, F64 };

constexpr unsigned bytesOf(Type type) { return type == Type::F64 ? 8 : type == Type::F32 ? 4 : 2; }

/// Element `index` of an operand.
double load(const Operand &operand, Type type, int64_t index);
/// Rounds to nearest, ties to even.
void store(Operand &operand, Type type, int64_t index, double value);

/// With 11 bits of significand, as tensor cores take factors in TF32.
double roundedToTf32(double value);

/// Writes nonsense to all of a workspace, as a library may.
void scribble(CUdeviceptr workspace, uint64_t bytes);

} // namespace standin

#endif // ACCC_TEST_GPU_STANDIN_ELEMENTS_H
