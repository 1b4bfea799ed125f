// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Transfers.h"

#include "accc/model.h"

#include <cstring>

namespace accc::detail {

TensorBlock::TensorBlock(const accc_value *values, int32_t count, uint64_t extra) : offsets{0} {
  auto add = [&](uint64_t bytes) {
    offsets.push_back((offsets.back() + bytes + ACCC_ALIGNMENT - 1) / ACCC_ALIGNMENT *
                      ACCC_ALIGNMENT);
  };
  for (int32_t i = 0; i < count; ++i)
    add(size_bytes_of(values[i].tensor));
  add(extra);
}

Transfers::Transfers(const Context &context, const accc_entry &entry)
    : context(context), entry(entry), inputs(entry.inputs, entry.num_inputs, 0),
      outputs(entry.outputs, entry.num_outputs, sizeof(int64_t)),
      inputMemory(context, inputs.bytes(), doing("the inputs of")()),
      outputMemory(context, outputs.bytes(), doing("the outputs of")()),
      ring{Slot(context, deviceBytes(), doing("the inputs and outputs of")()),
           Slot(context, deviceBytes(), doing("the inputs and outputs of")())} {}

void Transfers::send(size_t slot, const std::vector<const Tensor *> &given) {
  char *memory = ring[slot].memory.data();
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i]->size_bytes())
      std::memcpy(memory + inputs[i], given[i]->raw(), given[i]->size_bytes());
  if (inputs.bytes())
    context.driver.check(context.driver.cuMemcpyHtoDAsync(inputMemory.address(), memory,
                                                          inputs.bytes(), context.stream),
                         doing("writing the inputs of"));
}

void Transfers::receive(size_t slot) {
  context.driver.check(context.driver.cuMemcpyDtoHAsync(results(ring[slot]), results(),
                                                        resultBytes(), context.stream),
                       doing("reading the outputs of"));
  ring[slot].received.record(doing("reading the outputs of"));
}

int32_t Transfers::wait(size_t slot) const {
  ring[slot].received.wait(doing("running"));
  int64_t status = 0;
  std::memcpy(&status, results(ring[slot]) + outputs.extra(), sizeof status);
  return static_cast<int32_t>(status);
}

std::vector<Tensor> Transfers::outputTensors(size_t slot) const {
  std::vector<Tensor> tensors;
  for (int32_t i = 0; i < entry.num_outputs; ++i) {
    auto shape = shape_of(entry.outputs[i].tensor);
    tensors.push_back(Tensor::borrow(static_cast<DType>(entry.outputs[i].tensor.dtype),
                                     Shape(shape.begin(), shape.end()),
                                     results(ring[slot]) + outputs[static_cast<size_t>(i)]));
  }
  return tensors;
}

} // namespace accc::detail
