// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the stand-ins for NVIDIA's libraries share: their calls, and the elements of their operands.
#ifndef ACCC_TEST_GPU_STANDIN_LIBRARY_H
#define ACCC_TEST_GPU_STANDIN_LIBRARY_H

#include "Device.h"

namespace standin {

enum class Type { F16, BF16, F32, F64 };

constexpr unsigned bytesOf(Type type) { return type == Type::F64 ? 8 : type == Type::F32 ? 4 : 2; }

/// Element `index` of an operand.
double load(const Operand &operand, Type type, int64_t index);
/// Rounds to nearest, ties to even.
void store(Operand &operand, Type type, int64_t index, double value);

/// As store() and load() would give it back.
double rounded(double value, Type type);

/// With 11 bits of significand, as tensor cores take factors in TF32.
double roundedToTf32(double value);

/// The first thing in each function of a library, whose results are `Status`: counts the call, and
/// gives what it returns without doing anything: a failure that STANDIN_FAIL asks for (`failed`
/// unless that names another), or `noContext`.
template <typename Status>
Status enterLibrary(const char *function, Status done, Status failed, Status noContext) {
  std::optional<int> code;
  if (Device::get().fails(function, code))
    return code ? Status(*code) : failed;
  return contextIsCurrent() ? done : noContext;
}

/// alpha or beta of a call: a double where the operands are, else a float.
double scaleFactor(const void *value, Type type);

/// Takes the work of a call, which writes nonsense to all of its workspace before and after, as a
/// library may: neither operands nor the result lie there.
/// False where the stream is none.
bool submit(CUstream stream, CUdeviceptr workspace, uint64_t bytes, Work work);

} // namespace standin

#endif // ACCC_TEST_GPU_STANDIN_LIBRARY_H
