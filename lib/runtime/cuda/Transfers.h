// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How an entry point's inputs get to the device and its outputs and status back, while the host
// goes on. A loss and other small outputs, and the status, are copied to the host after each run.
// Large outputs (logits, gradients) stay on the device until somebody asks for them: most runs'
// are never read, and a run's logits can be larger than all weights. Inputs that are larger still
// are copied to the device while the run before works there (StagedInput).
#ifndef ACCC_RUNTIME_CUDA_TRANSFERS_H
#define ACCC_RUNTIME_CUDA_TRANSFERS_H

#include "StagedInput.h"
#include "accc/abi.h"
#include "core/Device.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace accc::detail {

/// Sizes in bytes above which tensors are copied otherwise than small ones.
struct TransferLimits {
  uint64_t large;   // each by itself; outputs only when they are asked for
  uint64_t overlap; // large inputs: while the run before works on the device
};

/// Tensors side by side in one block, each aligned: first those of more than `largeBytes`, then the
/// small ones.
class TensorBlock {
public:
  /// `extra` bytes follow the tensors, as if they were one more small one.
  TensorBlock(const accc_value *values, int32_t count, uint64_t extra, uint64_t largeBytes);

  uint64_t bytes() const { return end; }
  uint64_t operator[](size_t number) const { return offsets[number]; }
  uint64_t extra() const { return offsets.back(); }

  bool isLarge(size_t number) const { return offsets[number] < small; }
  /// Where the small ones begin, and what they take.
  uint64_t smallOffset() const { return small; }
  uint64_t smallBytes() const { return end - small; }

private:
  std::vector<uint64_t> offsets;
  uint64_t small = 0, end = 0;
};

/// On the device inputs, outputs and status have fixed places, so that captured work never changes.
/// In pinned memory of the host there is a place for each of the runs that can be under way, so
/// that the host writes the inputs of one while the device has not yet read those of another.
class Transfers {
public:
  static constexpr size_t slots = 2;

  /// `together`: the status becomes that of several processes, and ownStatus() keeps this one's.
  Transfers(const Context &context, const accc_entry &entry, TransferLimits limits, bool together);

  CUdeviceptr input(size_t number) const { return inputMemory.address() + inputs[number]; }
  CUdeviceptr output(size_t number) const { return results() + outputs[number]; }
  /// All outputs and the status, which follows them.
  CUdeviceptr results() const { return outputMemory.address(); }
  uint64_t resultBytes() const { return outputMemory.size(); }
  CUdeviceptr status() const { return results() + outputs.extra(); }
  CUdeviceptr ownStatus() const { return status() + sizeof(int64_t); }
  uint64_t deviceBytes() const;

  /// Copies the host's inputs to the slot, and puts their way to the device into the streams. The
  /// run that had the slot before must be over.
  void send(size_t slot, const std::vector<Source> &given);
  /// An input as the host sent it from the slot; null where it did not.
  const void *sentInput(size_t slot, size_t number) const;
  /// Puts the way of the small outputs and the status to the slot into the stream, and marks its
  /// end.
  void receive(size_t slot);
  /// Waits for that mark. Returns the status, ACCC_OTHER_FAILED where that is not this process's.
  int32_t wait(size_t slot) const;
  /// The small outputs in the slot's memory; large ones without memory.
  std::vector<Tensor> outputTensors(size_t slot) const;
  bool isLarge(size_t output) const { return outputs.isLarge(output); }
  /// Copies a large output to the host.
  Tensor fetch(size_t output);

private:
  struct Slot {
    Slot(const Context &context, uint64_t bytes, int32_t numInputs, const std::string &what)
        : memory(context, bytes, what), inputs(static_cast<size_t>(numInputs)),
          received(context, CU_EVENT_DISABLE_TIMING) {}
    PinnedMemory memory;                               // small inputs, small outputs, status
    std::vector<std::unique_ptr<PinnedMemory>> inputs; // large ones that came from the host
    Event received;
  };
  /// Where an output, or the status, at this offset of the block is in a slot.
  char *result(const Slot &slot, uint64_t offset) const {
    return slot.memory.data() + inputs.smallBytes() + (offset - outputs.smallOffset());
  }
  /// Pinned memory that is allocated when it is first used.
  char *pin(std::unique_ptr<PinnedMemory> &memory, uint64_t bytes, const char *what);
  void toDevice(CUdeviceptr to, const char *from, uint64_t bytes);
  /// "<what> <entry>", put together when it is called for.
  auto doing(const char *what) const {
    return [what, this] { return std::string(what) + " " + entry.name; };
  }

  const Context &context;
  const accc_entry &entry;
  uint64_t statusBytes;
  TensorBlock inputs, outputs;
  DeviceMemory inputMemory, outputMemory; // on the device
  std::array<Slot, slots> ring;
  std::vector<std::unique_ptr<StagedInput>> staged;   // null where an input needs none
  std::vector<std::unique_ptr<PinnedMemory>> fetched; // large outputs that were asked for
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_TRANSFERS_H
