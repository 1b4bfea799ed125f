// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call of a function of a custom operator (accc/custom_op.h), on whatever device.
#ifndef ACCC_RUNTIME_CORE_CUSTOMCALL_H
#define ACCC_RUNTIME_CORE_CUSTOMCALL_H

#include "accc/custom_op.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace accc::detail {

/// The devices that functions are written for.
enum class CustomTarget { cpu, cuda };

class CustomCall {
public:
  /// `op` has a function for the target (whyOperatorDiffers). Both outlive this. `threads` is how
  /// many the function may use.
  CustomCall(const accc_custom_call &call, const accc_custom_operator &op, CustomTarget target,
             int threads);

  /// Bytes that run() needs as `workspace`, aligned to ACCC_ALIGNMENT.
  uint64_t workspaceBytes() const { return arguments.workspace_bytes; }
  /// Calls the function on the step's buffers, whose addresses `addressOf` gives by their numbers.
  /// Throws Error (machine) with the function's message where it fails.
  template <typename AddressOf> void run(AddressOf addressOf, void *workspace, void *stream) {
    for (size_t i = 0; i < operands.size(); ++i)
      operands[i].data = call.buffers[i] < 0 ? nullptr : addressOf(call.buffers[i]);
    arguments.workspace = workspace;
    arguments.stream = stream;
    run();
  }

private:
  void run();

  const accc_custom_call &call;
  accc_custom_function function;
  accc_custom_arguments arguments = {};
  std::vector<accc_operand> operands; // inputs, outputs, gradients of outputs, of inputs
  std::vector<char> message;
};

/// In what the operator is not the one that the call was compiled for: a function for the target
/// that is missing, other results than `infer` gave then; or nothing.
std::optional<std::string> whyOperatorDiffers(const accc_custom_call &call,
                                              const accc_custom_operator &op, CustomTarget target);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CORE_CUSTOMCALL_H
