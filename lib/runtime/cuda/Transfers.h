// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How an entry point's inputs get to the device and its outputs and status back, while the host
// goes on.
#ifndef ACCC_RUNTIME_CUDA_TRANSFERS_H
#define ACCC_RUNTIME_CUDA_TRANSFERS_H

#include "DeviceMemory.h"
#include "accc/abi.h"
#include "accc/tensor.h"

#include <array>
#include <string>
#include <vector>

namespace accc::detail {

/// Tensors side by side in one block, each aligned.
class TensorBlock {
public:
  /// `extra` bytes follow the tensors, as if they were one more.
  TensorBlock(const accc_value *values, int32_t count, uint64_t extra);

  uint64_t bytes() const { return offsets.back(); }
  uint64_t operator[](size_t number) const { return offsets[number]; }
  uint64_t extra() const { return offsets[offsets.size() - 2]; }

private:
  std::vector<uint64_t> offsets;
};

/// On the device inputs, outputs and status have fixed places, so that captured work never changes.
/// In pinned memory of the host there is a place for each of the runs that can be under way, so
/// that the host writes the inputs of one while the device has not yet read those of another.
class Transfers {
public:
  static constexpr size_t slots = 2;

  Transfers(const Context &context, const accc_entry &entry);

  CUdeviceptr input(size_t number) const { return inputMemory.address() + inputs[number]; }
  CUdeviceptr output(size_t number) const { return results() + outputs[number]; }
  /// All outputs and the status, which follows them.
  CUdeviceptr results() const { return outputMemory.address(); }
  uint64_t resultBytes() const { return outputMemory.size(); }
  CUdeviceptr status() const { return results() + outputs.extra(); }
  uint64_t deviceBytes() const { return inputMemory.size() + outputMemory.size(); }

  /// Copies the inputs to the slot, and puts their way to the device into the stream. The run that
  /// had the slot before must be over.
  void send(size_t slot, const std::vector<const Tensor *> &given);
  /// Puts the outputs' and the status's way to the slot into the stream, and marks its end.
  void receive(size_t slot);
  /// Waits for that mark. Returns the status.
  int32_t wait(size_t slot) const;
  /// The outputs in the slot's memory.
  std::vector<Tensor> outputTensors(size_t slot) const;

private:
  struct Slot {
    Slot(const Context &context, uint64_t bytes, const std::string &what)
        : memory(context, bytes, what), received(context, CU_EVENT_DISABLE_TIMING) {}
    PinnedMemory memory; // inputs, outputs, status
    Event received;
  };
  char *results(const Slot &slot) const { return slot.memory.data() + inputs.bytes(); }
  /// "<what> <entry>", put together when it is called for.
  auto doing(const char *what) const {
    return [what, this] { return std::string(what) + " " + entry.name; };
  }

  const Context &context;
  const accc_entry &entry;
  TensorBlock inputs, outputs;
  DeviceMemory inputMemory, outputMemory; // on the device
  std::array<Slot, slots> ring;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_TRANSFERS_H
