// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CustomCall.h"

#include "accc/error.h"
#include "accc/model.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace accc::detail {

namespace {

accc_custom_function functionOf(const accc_custom_call &call, const accc_custom_operator &op,
                                CustomTarget target) {
  if (target == CustomTarget::cuda)
    return call.backward ? op.backward_cuda : op.forward_cuda;
  return call.backward ? op.backward_cpu : op.forward_cpu;
}

/// Without gradients.
std::vector<accc_operand> operandsOf(const accc_custom_call &call) {
  std::vector<accc_operand> operands;
  auto add = [&](const accc_tensor *tensors, int32_t count) {
    for (const accc_tensor &tensor : std::span(tensors, static_cast<size_t>(count)))
      operands.push_back({tensor.dtype, tensor.rank, tensor.shape, nullptr});
  };
  add(call.inputs, call.num_inputs);
  add(call.outputs, call.num_outputs);
  return operands;
}

std::string messageOf(const std::vector<char> &message) {
  std::string text(message.data(), strnlen(message.data(), message.size()));
  return text.empty() ? "it does not say why" : text;
}

std::string typeOf(const accc_tensor &tensor) {
  return to_string(static_cast<DType>(tensor.dtype), shape_of(tensor));
}

std::string typeOf(const accc_result_type &type) {
  auto dtype = dtype_of(type.dtype);
  if (!dtype || type.rank < 0 || type.rank > ACCC_CUSTOM_MAX_RANK)
    return "no tensor";
  return to_string(*dtype, {type.shape, static_cast<size_t>(type.rank)});
}

} // namespace

CustomCall::CustomCall(const accc_custom_call &call, const accc_custom_operator &op,
                       CustomTarget target, int threads)
    : call(call), function(functionOf(call, op, target)), operands(operandsOf(call)),
      message(ACCC_CUSTOM_MESSAGE_BYTES) {
  auto inputs = static_cast<size_t>(call.num_inputs),
       outputs = static_cast<size_t>(call.num_outputs);
  operands.reserve(2 * (inputs + outputs));
  for (size_t i = 0; i < outputs; ++i)
    operands.push_back(operands[inputs + i]);
  for (size_t i = 0; i < inputs; ++i)
    operands.push_back(operands[i]);
  arguments.num_inputs = call.num_inputs;
  arguments.num_outputs = call.num_outputs;
  arguments.num_attributes = call.num_attributes;
  arguments.threads = threads;
  arguments.inputs = operands.data();
  arguments.outputs = operands.data() + inputs;
  if (call.backward) {
    arguments.output_gradients = arguments.outputs + outputs;
    arguments.input_gradients = arguments.output_gradients + outputs;
  }
  arguments.attributes = call.attributes;
  arguments.message = message.data();
  if (op.workspace)
    arguments.workspace_bytes = op.workspace(&arguments, call.backward);
}

void CustomCall::run() {
  message.front() = 0;
  if (function(&arguments) != 0)
    throw Error(ErrorKind::machine, "the " + std::string(call.backward ? "backward" : "forward") +
                                        " function of " + call.name + " in " + call.library +
                                        " failed: " + messageOf(message));
}

std::optional<std::string> whyOperatorDiffers(const accc_custom_call &call,
                                              const accc_custom_operator &op, CustomTarget target) {
  if (op.num_inputs != call.num_inputs || op.num_outputs != call.num_outputs)
    return "it has " + std::to_string(op.num_inputs) + " inputs and " +
           std::to_string(op.num_outputs) + " outputs, the model was compiled for " +
           std::to_string(call.num_inputs) + " and " + std::to_string(call.num_outputs);
  if (!functionOf(call, op, target))
    return std::string("it has no ") + (call.backward ? "backward" : "forward") + " function for " +
           (target == CustomTarget::cuda ? "cuda" : "cpu");
  auto inputs = static_cast<size_t>(call.num_inputs);
  for (size_t i = 0; call.backward && i < inputs; ++i) {
    bool isRead = call.buffers[i] >= 0;
    if (!isRead && op.backward_inputs >> i & 1)
      return "its backward function reads input " + std::to_string(i) +
             ", which it did not when the model was compiled";
  }
  for (size_t i = 0; call.backward && i < static_cast<size_t>(call.num_outputs); ++i) {
    bool isRead = call.buffers[inputs + i] >= 0;
    if (!isRead && op.backward_outputs >> i & 1)
      return "its backward function reads output " + std::to_string(i) +
             ", which it did not when the model was compiled";
  }
  std::vector<accc_operand> operands = operandsOf(call);
  std::vector<char> message(ACCC_CUSTOM_MESSAGE_BYTES);
  accc_custom_arguments arguments = {};
  arguments.num_inputs = call.num_inputs;
  arguments.num_outputs = call.num_outputs;
  arguments.num_attributes = call.num_attributes;
  arguments.threads = 1;
  arguments.inputs = operands.data();
  arguments.attributes = call.attributes;
  arguments.message = message.data();
  std::vector<accc_result_type> results(static_cast<size_t>(call.num_outputs));
  if (op.infer(&arguments, results.data()) != 0)
    return "it refuses what the model was compiled for: " + messageOf(message);
  for (size_t i = 0; i < results.size(); ++i)
    if (typeOf(results[i]) != typeOf(call.outputs[i]))
      return "its output " + std::to_string(i) + " is " + typeOf(results[i]) +
             ", the model was compiled for " + typeOf(call.outputs[i]);
  return std::nullopt;
}

} // namespace accc::detail
