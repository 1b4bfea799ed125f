// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands in for libcuda.so.1: contexts, memory, copies, streams and events. Modules and kernels are
// in Kernels.cpp, graphs in Graphs.cpp, how functions are found in Functions.cpp.
#include "Entry.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace standin;

namespace {

/// Where an event is in the streams; outlives it where they have work that sets it or waits for it.
struct Mark {
  CUstream stream = nullptr;     // in which it was recorded last
  size_t recorded = 0, done = 0; // how often
  std::chrono::steady_clock::time_point time;

  bool isDone() const { return done == recorded; }
};

/// The only context, of the only device.
CUcontext context() { return reinterpret_cast<CUcontext>(&Device::get()); }

int capability(int part) {
  std::string text = setting("STANDIN_CAPABILITY", "9.0");
  return std::atoi(text.c_str() + (part ? text.find('.') + 1 : 0));
}

/// Whether the host's memory is pinned, so that the device gets at it by itself.
bool isPinned(const void *host) {
  return Device::get().memory.find(reinterpret_cast<uint64_t>(host)) != nullptr;
}

} // namespace

struct CUevent_st {
  std::shared_ptr<Mark> mark = std::make_shared<Mark>();
};

// ---- The driver and its devices ----

CUresult cuInit(unsigned flags) {
  std::optional<int> code;
  if (Device::get().fails("cuInit", code))
    return CUresult(code.value_or(CUDA_ERROR_UNKNOWN));
  if (setting("STANDIN_DEVICES", "1") == "0")
    return CUDA_ERROR_NO_DEVICE;
  Device::get().started = true;
  return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDriverGetVersion(int *version) {
  *version = std::atoi(setting("STANDIN_DRIVER", "13000").c_str());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  STANDIN_ENTER(cuDeviceGetCount, false);
  *count = std::atoi(setting("STANDIN_DEVICES", "1").c_str());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  STANDIN_ENTER(cuDeviceGet, false);
  if (ordinal < 0 || ordinal >= std::atoi(setting("STANDIN_DEVICES", "1").c_str()))
    return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  STANDIN_ENTER(cuDeviceGetName, false);
  std::snprintf(name, size_t(length), "%s", "Stand-in");
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice) {
  STANDIN_ENTER(cuDeviceGetAttribute, false);
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = capability(0);
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = capability(1);
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *result, CUdevice device) {
  STANDIN_ENTER(cuDevicePrimaryCtxRetain, false);
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  ++Device::get().contexts;
  *result = context();
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  STANDIN_ENTER(cuDevicePrimaryCtxRelease, false);
  if (Device::get().contexts == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  --Device::get().contexts;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext wanted) {
  STANDIN_ENTER(cuCtxSetCurrent, false);
  if (wanted != context())
    return CUDA_ERROR_INVALID_CONTEXT;
  contextIsCurrent() = true;
  return CUDA_SUCCESS;
}

// ---- Memory ----

CUresult cuMemGetInfo(size_t *free, size_t *total) {
  STANDIN_ENTER(cuMemGetInfo, true);
  uint64_t used = Device::get().memory.bytesInUse();
  *total = Device::get().memoryLimit();
  *free = used < *total ? *total - used : 0;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  STANDIN_ENTER(cuMemAlloc, true);
  Device &device = Device::get();
  if (CUresult refused = device.refuseInCapture())
    return refused;
  if (bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (device.memory.bytesInUse() + bytes > device.memoryLimit())
    return CUDA_ERROR_OUT_OF_MEMORY;
  *address = device.memory.allocate(bytes);
  return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree(CUdeviceptr address) {
  STANDIN_ENTER(cuMemFree, true);
  if (CUresult refused = Device::get().refuseInCapture())
    return refused;
  // The driver may wait, but does not promise it: work that still uses the memory faults here.
  return Device::get().memory.free(address) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemAllocHost(void **host, size_t bytes) {
  STANDIN_ENTER(cuMemAllocHost, true);
  if (CUresult refused = Device::get().refuseInCapture())
    return refused;
  *host = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*host)
    return CUDA_ERROR_OUT_OF_MEMORY;
  return Device::get().memory.registerHost(*host, bytes) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *host) {
  STANDIN_ENTER(cuMemFreeHost, true);
  if (Device::get().memory.unregisterHost(host))
    return CUDA_ERROR_INVALID_VALUE;
  std::free(host);
  return CUDA_SUCCESS;
}

// ---- Copies ----

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  STANDIN_ENTER(cuMemcpyHtoDAsync, true);
  Device &device = Device::get();
  if (isPinned(from)) // read when the copy is made, not now
    return device.submit(stream,
                         [=, &device] { device.check(device.memory.write(to, from, bytes)); });
  if (CUresult refused = device.refuseInCapture())
    return refused;
  auto staged = std::make_shared<std::vector<char>>(static_cast<const char *>(from),
                                                    static_cast<const char *>(from) + bytes);
  return device.submit(
      stream, [=, &device] { device.check(device.memory.write(to, staged->data(), bytes)); });
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  STANDIN_ENTER(cuMemcpyDtoHAsync, true);
  Device &device = Device::get();
  Work copy = [=] {
    if (bytes)
      std::memcpy(to, Operand(from, "a copy to the host").read(0, bytes), bytes);
  };
  if (isPinned(to))
    return device.submit(stream, std::move(copy));
  if (CUresult refused = device.refuseInCapture())
    return refused;
  if (CUresult failed = device.wait(stream)) // to other memory it does not return before
    return failed;
  return device.run(copy);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  STANDIN_ENTER(cuMemcpyDtoDAsync, true);
  Device &device = Device::get();
  return device.submit(stream, [=, &device] { device.check(device.memory.copy(to, from, bytes)); });
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *given, CUstream stream) {
  STANDIN_ENTER(cuMemcpy3DAsync, true);
  CUDA_MEMCPY3D copy = *given;
  if (copy.srcMemoryType != CU_MEMORYTYPE_DEVICE || copy.dstMemoryType != CU_MEMORYTYPE_DEVICE ||
      copy.srcXInBytes + copy.WidthInBytes > copy.srcPitch ||
      copy.dstXInBytes + copy.WidthInBytes > copy.dstPitch ||
      copy.srcY + copy.Height > copy.srcHeight || copy.dstY + copy.Height > copy.dstHeight)
    return CUDA_ERROR_INVALID_VALUE;
  Device &device = Device::get();
  return device.submit(stream, [copy, &device] {
    for (size_t z = 0; z < copy.Depth; ++z)
      for (size_t y = 0; y < copy.Height; ++y) {
        size_t from = ((copy.srcZ + z) * copy.srcHeight + copy.srcY + y) * copy.srcPitch,
               to = ((copy.dstZ + z) * copy.dstHeight + copy.dstY + y) * copy.dstPitch;
        device.check(device.memory.copy(copy.dstDevice + to + copy.dstXInBytes,
                                        copy.srcDevice + from + copy.srcXInBytes,
                                        copy.WidthInBytes));
      }
  });
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t count, CUstream stream) {
  STANDIN_ENTER(cuMemsetD8Async, true);
  Device &device = Device::get();
  return device.submit(stream, [=, &device] {
    device.check(device.memory.fill(to, byte, 1, count));
    if (byte == 0 && count == sizeof(int64_t))
      device.beginRun(to);
  });
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char byte, size_t width,
                           size_t height, CUstream stream) {
  STANDIN_ENTER(cuMemsetD2D8Async, true);
  if (height > 1 && pitch < width)
    return CUDA_ERROR_INVALID_VALUE;
  Device &device = Device::get();
  return device.submit(stream, [=, &device] {
    for (size_t row = 0; row < height; ++row)
      device.check(device.memory.fill(to + row * pitch, byte, 1, width));
  });
}

// ---- Streams and events ----

CUresult cuStreamCreate(CUstream *stream, unsigned) {
  STANDIN_ENTER(cuStreamCreate, true);
  *stream = new CUstream_st;
  Device::get().streams[*stream] = *stream;
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream) {
  STANDIN_ENTER(cuStreamDestroy, true);
  CUresult result = Device::get().wait(stream);
  if (Device::get().streams.erase(stream))
    delete stream;
  return result;
}

CUresult cuStreamSynchronize(CUstream stream) {
  STANDIN_ENTER(cuStreamSynchronize, true);
  return Device::get().wait(stream);
}

CUresult cuEventCreate(CUevent *event, unsigned) {
  STANDIN_ENTER(cuEventCreate, true);
  *event = new CUevent_st;
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
  STANDIN_ENTER(cuEventDestroy, true);
  delete event;
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  STANDIN_ENTER(cuEventRecord, true);
  if (CUresult refused = Device::get().refuseInCapture())
    return refused;
  event->mark->stream = stream;
  return Device::get().submit(stream, [mark = event->mark, number = ++event->mark->recorded] {
    mark->done = number;
    mark->time = std::chrono::steady_clock::now();
  });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  STANDIN_ENTER(cuStreamWaitEvent, true);
  Device &device = Device::get();
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult refused = device.refuseInCapture())
    return refused;
  // For what is recorded now, whatever is recorded later.
  const Mark now = *event->mark;
  return device.submit(stream, [&device, mark = event->mark, now] {
    auto isDone = [&] { return mark->done >= now.recorded; };
    if (!isDone())
      device.advance(now.stream, isDone);
  });
}

CUresult cuEventSynchronize(CUevent event) {
  STANDIN_ENTER(cuEventSynchronize, true);
  const Mark &mark = *event->mark;
  if (!mark.recorded)
    return CUDA_SUCCESS;
  return Device::get().wait(mark.stream, [&] { return mark.isDone(); });
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  STANDIN_ENTER(cuEventElapsedTime, true);
  const Mark &from = *start->mark, &to = *end->mark;
  if (!from.recorded || !to.recorded)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!from.isDone() || !to.isDone())
    return CUDA_ERROR_NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(to.time - from.time).count();
  return CUDA_SUCCESS;
}
