// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session's way to its device, and memory there and for transfers.
#ifndef ACCC_RUNTIME_CUDA_DEVICEMEMORY_H
#define ACCC_RUNTIME_CUDA_DEVICEMEMORY_H

#include "Driver.h"

#include <cstdint>

namespace accc::detail {

/// A device's primary context, with a stream in it in which all work of a session runs, but
/// for copies of large inputs to the device, which have a second one beside it.
class Context {
public:
  /// `number`: of the device, among those that the process may use.
  explicit Context(const Driver &driver, int number = 0);
  Context(const Context &) = delete;
  ~Context();

  /// For the calling thread; before anything else is asked of the driver.
  void makeCurrent() const;
  /// For destructors, which go on where that fails.
  bool tryMakeCurrent() const { return driver.cuCtxSetCurrent(context) == CUDA_SUCCESS; }
  /// Waits until all work of the stream is done. `doing` is what that is, as Driver::check takes
  /// it.
  template <typename Doing> void synchronize(const Doing &doing) const {
    driver.check(driver.cuStreamSynchronize(stream), doing);
  }

  /// Waits until nothing is under way in either stream, whatever comes of it: for destructors, and
  /// before memory is used again after a failure.
  void finish() const;
  /// The second stream, which is made when it is first asked for.
  CUstream copyStream() const;

  const Driver &driver;
  CUstream stream = nullptr;

private:
  CUstream makeStream() const;

  mutable CUstream copying = nullptr;
  CUdevice device = 0;
  CUcontext context = nullptr;
};

/// A block of a device's memory, contents undefined. Aligned to 256 bytes or more. Is given back
/// when the streams' work, which may use it, is done.
class DeviceMemory {
public:
  DeviceMemory() = default;
  /// `what` names the use in the Error (machine) of a device that has no more memory.
  DeviceMemory(const Context &context, uint64_t bytes, const std::string &what);
  DeviceMemory(DeviceMemory &&other) noexcept;
  DeviceMemory &operator=(DeviceMemory &&other) noexcept;
  ~DeviceMemory();

  CUdeviceptr address() const { return first; }
  uint64_t size() const { return bytes; }

private:
  const Context *context = nullptr;
  CUdeviceptr first = 0;
  uint64_t bytes = 0;
};

/// Memory of the host that the device reads and writes by itself, while the host goes on. Is given
/// back as DeviceMemory is.
class PinnedMemory {
public:
  PinnedMemory(const Context &context, uint64_t bytes, const std::string &what);
  PinnedMemory(const PinnedMemory &) = delete;
  ~PinnedMemory();

  char *data() const { return first; }
  uint64_t size() const { return bytes; }

private:
  const Context &context;
  char *first = nullptr;
  uint64_t bytes = 0;
};

/// A point in a stream's work.
class Event {
public:
  /// `flags` are CUevent_flags.
  Event(const Context &context, unsigned flags);
  Event(Event &&other) noexcept;
  ~Event();

  /// Now, at the end of what is in the stream. `doing` as Driver::check takes it.
  template <typename Doing> void record(CUstream stream, const Doing &doing) const {
    context.driver.check(context.driver.cuEventRecord(event, stream), doing);
  }
  /// Lets what is put into another stream from now on begin only when the work before the point
  /// that was recorded last is done; at once where none was. Not while that stream is captured.
  template <typename Doing> void holdBack(CUstream stream, const Doing &doing) const {
    context.driver.check(context.driver.cuStreamWaitEvent(stream, event, 0), doing);
  }
  /// Waits until the work before the point that was recorded last is done.
  template <typename Doing> void wait(const Doing &doing) const {
    context.driver.check(context.driver.cuEventSynchronize(event), doing);
  }
  /// Seconds from this point to a later one; both were waited for.
  template <typename Doing> double secondsTo(const Event &later, const Doing &doing) const {
    float milliseconds = 0;
    context.driver.check(context.driver.cuEventElapsedTime(&milliseconds, event, later.event),
                         doing);
    return double(milliseconds) / 1e3;
  }

private:
  const Context &context;
  CUevent event = nullptr;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_DEVICEMEMORY_H
