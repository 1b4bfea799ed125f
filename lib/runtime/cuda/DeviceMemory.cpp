// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DeviceMemory.h"

#include <utility>

namespace accc::detail {

// Destructors look at no results: after a fault of the device, and at the end of the process, there
// is nothing left to give back.

// ---- Context ----

Context::Context(const Driver &driver, int number) : driver(driver) {
  driver.check(driver.cuDeviceGet(&device, number),
               [&] { return "taking device " + std::to_string(number); });
  driver.check(driver.cuDevicePrimaryCtxRetain(&context, device), "opening the device");
  try {
    makeCurrent();
    stream = makeStream();
  } catch (...) {
    driver.cuDevicePrimaryCtxRelease(device);
    throw;
  }
}

Context::~Context() {
  if (tryMakeCurrent()) {
    driver.cuStreamDestroy(stream);
    if (copying)
      driver.cuStreamDestroy(copying);
  }
  driver.cuDevicePrimaryCtxRelease(device);
}

void Context::makeCurrent() const {
  driver.check(driver.cuCtxSetCurrent(context), "entering the device's context");
}

CUstream Context::makeStream() const {
  CUstream made = nullptr;
  // No implicit waiting for other streams of the process.
  driver.check(driver.cuStreamCreate(&made, CU_STREAM_NON_BLOCKING), "making a stream");
  return made;
}

CUstream Context::copyStream() const {
  if (!copying)
    copying = makeStream();
  return copying;
}

void Context::finish() const {
  driver.cuStreamSynchronize(stream);
  if (copying)
    driver.cuStreamSynchronize(copying);
}

// ---- DeviceMemory ----

DeviceMemory::DeviceMemory(const Context &context, uint64_t bytes, const std::string &what)
    : context(&context), bytes(bytes) {
  if (bytes)
    context.driver.check(context.driver.cuMemAlloc(&first, bytes), [&] {
      return "allocating " + std::to_string(bytes) + " bytes for " + what;
    });
}

DeviceMemory::DeviceMemory(DeviceMemory &&other) noexcept
    : context(std::exchange(other.context, nullptr)), first(std::exchange(other.first, 0)),
      bytes(std::exchange(other.bytes, 0)) {}

DeviceMemory &DeviceMemory::operator=(DeviceMemory &&other) noexcept {
  std::swap(context, other.context);
  std::swap(first, other.first);
  std::swap(bytes, other.bytes);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (!first)
    return;
  context->finish();
  context->driver.cuMemFree(first);
}

// ---- PinnedMemory ----

PinnedMemory::PinnedMemory(const Context &context, uint64_t bytes, const std::string &what)
    : context(context), bytes(bytes) {
  void *memory = nullptr;
  if (bytes)
    context.driver.check(context.driver.cuMemAllocHost(&memory, bytes), [&] {
      return "pinning " + std::to_string(bytes) + " bytes of the host for " + what;
    });
  first = static_cast<char *>(memory);
}

PinnedMemory::~PinnedMemory() {
  if (!first)
    return;
  context.finish();
  context.driver.cuMemFreeHost(first);
}

// ---- Event ----

Event::Event(const Context &context, unsigned flags) : context(context) {
  context.driver.check(context.driver.cuEventCreate(&event, flags), "making an event");
}

Event::Event(Event &&other) noexcept
    : context(other.context), event(std::exchange(other.event, nullptr)) {}

Event::~Event() {
  if (event)
    context.driver.cuEventDestroy(event);
}

} // namespace accc::detail
