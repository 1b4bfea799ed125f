// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LibraryCalls.h"

#include "StandIn.h"
#include "Support.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace accc;
using namespace accc::test;

const detail::Platform &accc::test::gpuPlatform() { return *detail::findPlatform("cuda"); }

Tensor accc::test::tensorOf(int32_t type, std::vector<float> &values) {
  Tensor tensor(static_cast<DType>(type), {int64_t(values.size())});
  char *bytes = static_cast<char *>(tensor.raw());
  for (float &value : values) {
    value = std::round(value * 16) / 16;
    auto put = [&](auto element) { std::memcpy(bytes, &element, sizeof element); };
    if (type == ACCC_F64)
      put(double(value));
    else if (type == ACCC_F32)
      put(value);
    else if (type == ACCC_F16)
      put(_Float16(value));
    else
      put(uint16_t(std::bit_cast<uint32_t>(value) >> 16));
    bytes += size_of(static_cast<DType>(type));
  }
  return tensor;
}

double accc::test::elementOf(const Tensor &tensor, size_t index) {
  const char *bytes = static_cast<const char *>(tensor.raw()) + index * size_of(tensor.dtype());
  auto get = [&](auto element) {
    std::memcpy(&element, bytes, sizeof element);
    return element;
  };
  switch (tensor.dtype()) {
  case DType::f64:
    return get(double());
  case DType::f16:
    return double(get(_Float16()));
  case DType::bf16:
    return std::bit_cast<float>(uint32_t(get(uint16_t())) << 16);
  default:
    return get(float());
  }
}

accc_entry accc::test::entryOf(const accc_library_call &call, const std::vector<accc_value> &inputs,
                               const std::vector<accc_step> &steps,
                               const std::vector<accc_buffer> &buffers) {
  accc_entry entry{};
  entry.name = "entry", entry.sizes = "";
  entry.num_inputs = int32_t(inputs.size()), entry.inputs = inputs.data();
  entry.num_library_calls = 1, entry.library_calls = &call;
  entry.num_steps = int32_t(steps.size()), entry.steps = steps.data();
  entry.num_buffers = int32_t(buffers.size()), entry.buffers = buffers.data();
  return entry;
}

accc_code accc::test::codeOf(std::span<const accc_entry> entries) {
  static const char image[] = ".version 7.0\n.target sm_80\n.address_size 64\n";
  accc_code code{};
  code.target = "cuda", code.arch = "compute_80";
  code.image = image, code.image_bytes = sizeof image;
  code.num_entries = int32_t(entries.size()), code.entries = entries.data();
  return code;
}

Tensor accc::test::resultOf(const accc_library_call &call, const std::vector<detail::Source> &given,
                            const Tensor &before, size_t steps) {
  StandIn gpu;
  std::vector<accc_value> inputs;
  std::vector<accc_buffer> buffers;
  std::vector<accc_step> made;
  uint64_t resultBytes = before.size_bytes() / steps;
  auto count = int32_t(given.size() / steps) + 1; // buffers of a step
  for (size_t step = 0; step < steps; ++step) {
    made.push_back({ACCC_STEP_LIBRARY_CALL, 0, 0, int32_t(step) * count, count, "call", ""});
    for (int32_t i = 0; i + 1 < count; ++i) {
      const Tensor &tensor = *given[inputs.size()].tensor;
      buffers.push_back({ACCC_INPUT, ACCC_READ, inputs.size(), tensor.size_bytes()});
      inputs.push_back(
          {{"operand", int32_t(tensor.dtype()), 1, tensor.shape().data()}, ACCC_DATA, nullptr});
    }
    buffers.push_back({ACCC_STATE, ACCC_READ_WRITE, step * resultBytes, resultBytes});
  }
  accc_entry entry = entryOf(call, inputs, made, buffers);
  accc_code code = codeOf({&entry, 1});
  accc_model_description model{};
  model.state_size = before.size_bytes();

  auto why = gpuPlatform().whyUnsupported(call);
  INFO(why.value_or(""));
  REQUIRE_FALSE(why);
  auto device = gpuPlatform().open(model, code, {});
  auto prepared = device->prepare(entry);
  Tensor result = before.clone();
  for (int repeat = 0; repeat < 2; ++repeat) {
    device->writeState(0, before.raw(), before.size_bytes());
    prepared->start(0, given);
    CHECK(prepared->wait(0) == ACCC_DONE);
    device->readState(0, result.raw(), result.size_bytes());
  }
  prepared.reset(), device.reset();
  CHECK(gpu.leaked() == 0);
  return result;
}

void accc::test::checkElements(const Tensor &result, const std::vector<double> &right,
                               double precision) {
  double worst = 0, scale = 1;
  for (size_t i = 0; i < right.size(); ++i) {
    double error = std::abs(elementOf(result, i) - right[i]);
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    scale = std::max(scale, std::abs(right[i]));
  }
  CHECK(worst <= precision * scale);
}

double accc::test::precisionOf(int32_t type) {
  return type == ACCC_F64 ? 1e-15 : type == ACCC_F32 ? 1e-7 : type == ACCC_F16 ? 1e-3 : 8e-3;
}
