// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs a model's entry points. Sessions know devices by this interface alone; each target has
// a folder beside this one with its implementation.
#ifndef ACCC_RUNTIME_CORE_DEVICE_H
#define ACCC_RUNTIME_CORE_DEVICE_H

#include "accc/abi.h"
#include "accc/error.h"
#include "accc/group.h"
#include "accc/tensor.h"
#include "core/CustomOperators.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accc::detail {

class DeviceEntry;

/// What a run is given for an input: a tensor of the host or, where `entry` is set, an output that
/// stays on the device (DeviceEntry::staysOnDevice), of the run of `entry` that was started last.
/// `tensor` then has its type and shape.
struct Source {
  const Tensor *tensor = nullptr;
  const DeviceEntry *entry = nullptr;
  size_t output = 0;

  explicit operator bool() const { return tensor; }
};

/// An entry point made ready on a device: everything that its runs need is allocated, its library
/// and custom calls are prepared.
class DeviceEntry {
public:
  virtual ~DeviceEntry() = default;

  /// How many runs can be under way at once, each in a slot with outputs of its own. A device with
  /// one slot does all of the work in start().
  virtual size_t slots() const { return 1; }
  /// What the runs in a slot write, in the entry's order: host tensors whose memory lives as long
  /// as this. Those that stay on the device have no memory.
  virtual std::vector<Tensor> outputs(size_t slot) = 0;
  /// Whether an output is copied to the host by fetch() alone. It is on the device until the next
  /// run of the entry is started, in whichever slot.
  virtual bool staysOnDevice(size_t) const { return false; }
  /// An output of the run that was started last, which has been waited for; in memory of the host
  /// that the next call for the same output overwrites.
  virtual Tensor fetch(size_t output) { return outputs(0)[output]; }
  /// Starts a run in a slot; the run that was there before has been waited for. Host tensors among
  /// the `inputs` (of the entry's shapes and types, in its order) have been read when this returns.
  /// Runs of all entries take effect in the order in which they were started.
  virtual void start(size_t slot, const std::vector<Source> &inputs) = 0;
  /// The bytes of input `number` of the run in a slot, where the entry keeps them until the next;
  /// else null.
  virtual const void *input(size_t /*slot*/, size_t /*number*/) const { return nullptr; }
  /// Waits until the run in a slot is over and its outputs are written. Returns its accc_status; of
  /// a negative one failure() says why.
  virtual int32_t wait(size_t slot) = 0;
  virtual Error failure() const = 0;

  /// From now on measures every launch and call, anew.
  virtual void startProfile() = 0;
  /// The seconds that each of them has taken since then, in the order of accc_entry.steps, checks
  /// left out; empty if none was measured.
  virtual const std::vector<double> &profile() const = 0;
};

/// The memory and threads (or streams) of one session. Holds the model's state block, zeros at
/// first. Used by one thread at a time.
class Device {
public:
  virtual ~Device() = default;

  /// `entry` must outlive what is returned, as must this.
  virtual std::unique_ptr<DeviceEntry> prepare(const accc_entry &entry) = 0;

  /// The state block where the host can read and write it in place, else null.
  virtual char *hostState() = 0;
  virtual void readState(uint64_t offset, void *to, uint64_t bytes) const = 0;
  virtual void writeState(uint64_t offset, const void *from, uint64_t bytes) = 0;

  virtual uint64_t stateBytes() const = 0;
  /// Arena and library scratch of the entries prepared so far, which share them.
  virtual uint64_t workingBytes() const = 0;
  /// Of the host, that take part in a step.
  virtual int threads() const = 0;
  /// What decides, beside its code, the last bits of what the device computes, or with `inCalls`
  /// also of what libraries compute there; fit for a message.
  virtual std::string describe(bool inCalls) const = 0;
};

/// What a session asks of its device.
struct DeviceOptions {
  /// As in SessionOptions.
  int threads = 0;
  bool graph = true;
  /// The session's place among those that train together; null where it trains alone. Outlives the
  /// device.
  Group *group = nullptr;
  /// Those that the code calls, if any; they outlive the device.
  const CustomOperators *customOperators = nullptr;
};

/// What this process can say of a target before a session is there.
class Platform {
public:
  virtual ~Platform() = default;

  /// What this machine lacks to run code for `arch` (accc_code.arch), or nothing.
  virtual std::optional<std::string> whyUnable(std::string_view arch) const = 0;
  /// Why a library call cannot be made ("convolution of i32: ..."), or nothing. Cheap, so that a
  /// model is turned down when it is loaded and not in its first step.
  virtual std::optional<std::string> whyUnsupported(const accc_library_call &call) const = 0;

  /// `code`, one of the model's, outlives the device. Throws Error (machine) where there is no
  /// memory.
  virtual std::unique_ptr<Device> open(const accc_model_description &model, const accc_code &code,
                                       const DeviceOptions &options) const = 0;
};

/// Zeros of a description's shape and type.
Tensor makeTensor(const accc_tensor &tensor);

const Platform &cpuPlatform();

/// The platform for accc_code.target; nullptr if this runtime has none.
const Platform *findPlatform(std::string_view target);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CORE_DEVICE_H
