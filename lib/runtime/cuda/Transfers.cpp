// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Transfers.h"

#include "accc/model.h"

#include <cstring>

namespace accc::detail {

TensorBlock::TensorBlock(const accc_value *values, int32_t count, uint64_t extra,
                         uint64_t largeBytes)
    : offsets(static_cast<size_t>(count)) {
  auto place = [&](uint64_t bytes) {
    uint64_t offset = end;
    end += (bytes + ACCC_ALIGNMENT - 1) / ACCC_ALIGNMENT * ACCC_ALIGNMENT;
    return offset;
  };
  auto placeAll = [&](bool large) {
    for (int32_t i = 0; i < count; ++i)
      if (uint64_t bytes = size_bytes_of(values[i].tensor); (bytes > largeBytes) == large)
        offsets[static_cast<size_t>(i)] = place(bytes);
  };
  placeAll(true);
  small = end;
  placeAll(false);
  offsets.push_back(place(extra));
}

Transfers::Transfers(const Context &context, const accc_entry &entry, TransferLimits limits,
                     bool together)
    : context(context), entry(entry), statusBytes(sizeof(int64_t) * (together ? 2 : 1)),
      inputs(entry.inputs, entry.num_inputs, 0, limits.large),
      outputs(entry.outputs, entry.num_outputs, statusBytes, limits.large),
      inputMemory(context, inputs.bytes(), doing("the inputs of")()),
      outputMemory(context, outputs.bytes(), doing("the outputs of")()),
      ring{Slot(context, inputs.smallBytes() + outputs.smallBytes(), entry.num_inputs,
                doing("the inputs and outputs of")()),
           Slot(context, inputs.smallBytes() + outputs.smallBytes(), entry.num_inputs,
                doing("the inputs and outputs of")())},
      staged(static_cast<size_t>(entry.num_inputs)),
      fetched(static_cast<size_t>(entry.num_outputs)) {
  // Gradients are on the device already, as a rule.
  for (size_t i = 0; i < staged.size(); ++i)
    if (uint64_t bytes = size_bytes_of(entry.inputs[i].tensor);
        entry.inputs[i].usage != ACCC_GRADIENT && inputs.isLarge(i) && bytes > limits.overlap)
      staged[i] = std::make_unique<StagedInput>(context, bytes, entry.name);
  // The small outputs are copied as one block, with what lies between them, which nobody writes.
  auto clearBehind = [&](uint64_t end) {
    if (uint64_t gap = (ACCC_ALIGNMENT - end % ACCC_ALIGNMENT) % ACCC_ALIGNMENT)
      context.driver.check(context.driver.cuMemsetD8Async(results() + end, 0, gap, context.stream),
                           doing("clearing the outputs of"));
  };
  for (int32_t i = 0; i < entry.num_outputs; ++i)
    if (auto number = static_cast<size_t>(i); !outputs.isLarge(number))
      clearBehind(outputs[number] + size_bytes_of(entry.outputs[i].tensor));
  clearBehind(outputs.extra() + statusBytes);
}

char *Transfers::pin(std::unique_ptr<PinnedMemory> &memory, uint64_t bytes, const char *what) {
  if (!memory)
    memory = std::make_unique<PinnedMemory>(context, bytes, doing(what)());
  return memory->data();
}

void Transfers::toDevice(CUdeviceptr to, const char *from, uint64_t bytes) {
  if (bytes)
    context.driver.check(context.driver.cuMemcpyHtoDAsync(to, from, bytes, context.stream),
                         doing("writing the inputs of"));
}

void Transfers::send(size_t slot, const std::vector<Source> &given) {
  Slot &to = ring[slot];
  for (size_t i = 0; i < given.size(); ++i) {
    uint64_t bytes = given[i].tensor->size_bytes();
    if (given[i].entry || bytes == 0)
      continue;
    const void *data = given[i].tensor->raw();
    if (inputs.isLarge(i)) {
      char *pinned = pin(to.inputs[i], bytes, "the inputs of");
      std::memcpy(pinned, data, bytes);
      if (staged[i])
        staged[i]->copy(input(i), pinned);
      else
        toDevice(input(i), pinned, bytes);
    } else {
      std::memcpy(to.memory.data() + (inputs[i] - inputs.smallOffset()), data, bytes);
    }
  }
  toDevice(inputMemory.address() + inputs.smallOffset(), to.memory.data(), inputs.smallBytes());
}

uint64_t Transfers::deviceBytes() const {
  uint64_t bytes = inputMemory.size() + outputMemory.size();
  for (const auto &input : staged)
    bytes += input ? input->bytes() : 0;
  return bytes;
}

const void *Transfers::sentInput(size_t slot, size_t number) const {
  const Slot &from = ring[slot];
  if (!inputs.isLarge(number))
    return from.memory.data() + (inputs[number] - inputs.smallOffset());
  return from.inputs[number] ? from.inputs[number]->data() : nullptr;
}

void Transfers::receive(size_t slot) {
  uint64_t first = outputs.smallOffset();
  context.driver.check(context.driver.cuMemcpyDtoHAsync(result(ring[slot], first),
                                                        results() + first, outputs.smallBytes(),
                                                        context.stream),
                       doing("reading the outputs of"));
  ring[slot].received.record(context.stream, doing("reading the outputs of"));
}

int32_t Transfers::wait(size_t slot) const {
  ring[slot].received.wait(doing("running"));
  int64_t status[2] = {};
  std::memcpy(status, result(ring[slot], outputs.extra()), statusBytes);
  const bool isOthers = statusBytes == sizeof status && status[1] == ACCC_DONE;
  return isOthers && status[0] != ACCC_DONE ? ACCC_OTHER_FAILED : static_cast<int32_t>(status[0]);
}

static Tensor tensorAt(const accc_tensor &tensor, char *data) {
  auto shape = shape_of(tensor);
  return Tensor::borrow(static_cast<DType>(tensor.dtype), Shape(shape.begin(), shape.end()), data);
}

std::vector<Tensor> Transfers::outputTensors(size_t slot) const {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < static_cast<size_t>(entry.num_outputs); ++i)
    tensors.push_back(
        tensorAt(entry.outputs[i].tensor, isLarge(i) ? nullptr : result(ring[slot], outputs[i])));
  return tensors;
}

Tensor Transfers::fetch(size_t index) {
  const accc_tensor &tensor = entry.outputs[index].tensor;
  uint64_t bytes = size_bytes_of(tensor);
  char *pinned = pin(fetched[index], bytes, "the outputs of");
  context.driver.check(
      context.driver.cuMemcpyDtoHAsync(pinned, output(index), bytes, context.stream),
      doing("reading the outputs of"));
  context.synchronize(doing("reading the outputs of"));
  return tensorAt(tensor, pinned);
}

} // namespace accc::detail
