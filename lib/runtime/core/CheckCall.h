// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CORE_CHECKCALL_H
#define ACCC_RUNTIME_CORE_CHECKCALL_H

#include "accc/abi.h"

#include <optional>
#include <string>

namespace accc::detail {

/// Whether a call is of accc_attention.
inline bool isAttention(const accc_library_call &call) {
  return call.kind == ACCC_CALL_ATTENTION || call.kind == ACCC_CALL_ATTENTION_BACKWARD;
}

/// What a library call computes, for messages: "matmul", "convolution's gradient of its weights".
std::string kindName(const accc_library_call &call);

/// How many buffers a step that makes the call has.
int32_t countBuffers(const accc_library_call &call);

/// In what a library call contradicts itself or abi.h, whatever device makes it; or nothing. Types
/// are left to the device.
std::optional<std::string> whyCallIsWrong(const accc_library_call &call);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CORE_CHECKCALL_H
