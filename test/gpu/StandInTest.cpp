// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stand-in itself: that it does nothing before it must, and refuses what a driver refuses.
#include "StandIn.h"

#include <cstring>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <thread>
#include <type_traits>
#include <vector>

using namespace accc::test;

namespace {

/// The driver's functions, as a program finds them.
template <typename Function> Function *find(const char *name) {
  void *library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  auto get = reinterpret_cast<decltype(&cuGetProcAddress)>(::dlsym(library, "cuGetProcAddress_v2"));
  void *address = nullptr;
  REQUIRE(get(name, &address, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr) == CUDA_SUCCESS);
  INFO(name);
  REQUIRE(address);
  return reinterpret_cast<Function *>(address);
}
#define FIND(name) find<decltype(name)>(#name)

/// A context with a stream, device memory and pinned memory of 16 bytes each.
struct Device {
  Device() {
    FIND(cuInit)(0);
    CUcontext context = nullptr;
    REQUIRE(FIND(cuDevicePrimaryCtxRetain)(&context, 0) == CUDA_SUCCESS);
    REQUIRE(FIND(cuCtxSetCurrent)(context) == CUDA_SUCCESS);
    REQUIRE(FIND(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(FIND(cuMemAlloc)(&memory, 16) == CUDA_SUCCESS);
    REQUIRE(FIND(cuMemAllocHost)(&pinned, 16) == CUDA_SUCCESS);
    std::memset(pinned, 1, 16);
  }
  Device(const Device &) = delete;
  ~Device() {
    FIND(cuMemFreeHost)(pinned);
    FIND(cuMemFree)(memory);
    FIND(cuStreamDestroy)(stream);
    FIND(cuDevicePrimaryCtxRelease)(0);
  }
  char *bytes() const { return static_cast<char *>(pinned); }
  CUresult upload() { return FIND(cuMemcpyHtoDAsync)(memory, pinned, 16, stream); }
  CUresult download() { return FIND(cuMemcpyDtoHAsync)(pinned, memory, 16, stream); }
  CUresult wait() { return FIND(cuStreamSynchronize)(stream); }
  /// The first byte of the device's memory.
  char first() {
    char byte = 0;
    REQUIRE(FIND(cuMemcpyDtoHAsync)(&byte, memory, 1, stream) == CUDA_SUCCESS);
    return byte;
  }

  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  void *pinned = nullptr;
};

} // namespace

TEST_CASE("stand-in: pinned memory is read and written when a stream gets there") {
  StandIn gpu;
  Device device;
  REQUIRE(device.upload() == CUDA_SUCCESS);
  device.bytes()[0] = 2; // too early: the copy has not been made
  REQUIRE(device.wait() == CUDA_SUCCESS);
  CHECK(device.first() == 2);
  device.bytes()[0] = 3;
  REQUIRE(device.download() == CUDA_SUCCESS);
  CHECK(device.bytes()[0] == 3);
  REQUIRE(device.wait() == CUDA_SUCCESS);
  CHECK(device.bytes()[0] == 2);
}

TEST_CASE("stand-in: what is captured is done when its graph is launched") {
  StandIn gpu;
  Device device;
  REQUIRE(device.upload() == CUDA_SUCCESS);
  REQUIRE(device.wait() == CUDA_SUCCESS);
  REQUIRE(FIND(cuStreamBeginCapture)(device.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) ==
          CUDA_SUCCESS);
  REQUIRE(device.upload() == CUDA_SUCCESS);
  CUgraph graph = nullptr;
  CUgraphExec made = nullptr;
  REQUIRE(FIND(cuStreamEndCapture)(device.stream, &graph) == CUDA_SUCCESS);
  REQUIRE(FIND(cuGraphInstantiateWithFlags)(&made, graph, 0) == CUDA_SUCCESS);
  device.bytes()[0] = 5;
  CHECK(device.first() == 1);
  for (char value : {6, 7}) {
    device.bytes()[0] = value;
    REQUIRE(FIND(cuGraphLaunch)(made, device.stream) == CUDA_SUCCESS);
    CHECK(device.first() == value);
  }
  FIND(cuGraphExecDestroy)(made);
  FIND(cuGraphDestroy)(graph);
}

TEST_CASE("stand-in: captured work waits for what it is told to") {
  StandIn gpu;
  Device device;
  Setting late("STANDIN_GRAPHS", GENERATE(as<std::string>(), "late", ""));
  bool isLate = std::getenv("STANDIN_GRAPHS") == std::string("late");
  bool waits = GENERATE(true, false);
  auto fill = [&](char value) {
    REQUIRE(FIND(cuMemsetD8Async)(device.memory, value, 16, device.stream) == CUDA_SUCCESS);
  };
  auto *infoOf =
      find<std::remove_pointer_t<PFN_cuStreamGetCaptureInfo_v11030>>("cuStreamGetCaptureInfo");
  auto *update = find<std::remove_pointer_t<PFN_cuStreamUpdateCaptureDependencies_v11030>>(
      "cuStreamUpdateCaptureDependencies");
  CHECK(update(device.stream, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES) ==
        CUDA_ERROR_ILLEGAL_STATE); // not captured
  REQUIRE(FIND(cuStreamBeginCapture)(device.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) ==
          CUDA_SUCCESS);
  fill(1);
  CUstreamCaptureStatus status{};
  const CUgraphNode *nodes = nullptr;
  size_t count = 0;
  REQUIRE(infoOf(device.stream, &status, nullptr, nullptr, &nodes, &count) == CUDA_SUCCESS);
  CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  REQUIRE(count == 1);
  if (!waits)
    REQUIRE(update(device.stream, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES) == CUDA_SUCCESS);
  fill(2);
  CUgraph graph = nullptr;
  CUgraphExec made = nullptr;
  REQUIRE(FIND(cuStreamEndCapture)(device.stream, &graph) == CUDA_SUCCESS);
  REQUIRE(FIND(cuGraphInstantiateWithFlags)(&made, graph, 0) == CUDA_SUCCESS);
  REQUIRE(FIND(cuGraphLaunch)(made, device.stream) == CUDA_SUCCESS);
  CHECK(device.first() == (waits || !isLate ? 2 : 1));
  FIND(cuGraphExecDestroy)(made);
  FIND(cuGraphDestroy)(graph);
}

TEST_CASE("stand-in: waiting and allocating end a capture") {
  StandIn gpu;
  Device device;
  bool waits = GENERATE(true, false);
  REQUIRE(FIND(cuStreamBeginCapture)(device.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) ==
          CUDA_SUCCESS);
  CUdeviceptr more = 0;
  CHECK((waits ? device.wait() : FIND(cuMemAlloc)(&more, 16)) ==
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph graph = nullptr;
  CHECK(FIND(cuStreamEndCapture)(device.stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK(device.wait() == CUDA_SUCCESS);
}

TEST_CASE("stand-in: a capture keeps other threads from allocating in global mode alone") {
  StandIn gpu;
  Device device;
  bool isGlobal = GENERATE(true, false);
  auto *setContext = FIND(cuCtxSetCurrent);
  auto *allocate = FIND(cuMemAlloc);
  CUcontext context = nullptr;
  REQUIRE(FIND(cuDevicePrimaryCtxRetain)(&context, 0) == CUDA_SUCCESS);
  REQUIRE(FIND(cuStreamBeginCapture)(
              device.stream, isGlobal ? CU_STREAM_CAPTURE_MODE_GLOBAL
                                      : CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) == CUDA_SUCCESS);
  CUdeviceptr more = 0;
  CUresult allocated = CUDA_SUCCESS;
  std::thread([&] {
    setContext(context);
    allocated = allocate(&more, 16);
  }).join();
  CUgraph graph = nullptr;
  CUresult captured = FIND(cuStreamEndCapture)(device.stream, &graph);
  CHECK(allocated == (isGlobal ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS));
  CHECK(captured == (isGlobal ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS));
  if (!isGlobal) {
    FIND(cuGraphDestroy)(graph);
    FIND(cuMemFree)(more);
  }
  FIND(cuDevicePrimaryCtxRelease)(0);
}

TEST_CASE("stand-in: a stream's work is done when another waits for an event behind it") {
  StandIn gpu;
  Device device;
  CUstream other = nullptr;
  CUevent event = nullptr;
  REQUIRE(FIND(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(FIND(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
  auto wait = FIND(cuStreamWaitEvent);
  auto fill = [&](char value) {
    REQUIRE(FIND(cuMemsetD8Async)(device.memory, value, 16, other) == CUDA_SUCCESS);
  };
  REQUIRE(wait(device.stream, event, 0) == CUDA_SUCCESS); // nothing: it was not recorded
  fill(1);
  REQUIRE(FIND(cuEventRecord)(event, other) == CUDA_SUCCESS);
  REQUIRE(wait(device.stream, event, 0) == CUDA_SUCCESS);
  fill(2);
  REQUIRE(FIND(cuEventRecord)(event, other) == CUDA_SUCCESS); // too late for that wait
  SECTION("and no more than that") { CHECK(device.first() == 1); }
  SECTION("and all where it is eager") {
    Setting eager("STANDIN_STREAMS", "eager");
    CHECK(device.first() == 2);
  }
  SECTION("and all that was recorded when the wait was called for") {
    REQUIRE(wait(device.stream, event, 0) == CUDA_SUCCESS);
    CHECK(device.first() == 2);
  }
  SECTION("but not while a stream is captured") {
    REQUIRE(FIND(cuStreamBeginCapture)(device.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) ==
            CUDA_SUCCESS);
    CHECK(wait(device.stream, event, 0) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CUgraph graph = nullptr;
    CHECK(FIND(cuStreamEndCapture)(device.stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  }
  FIND(cuEventDestroy)(event);
  FIND(cuStreamDestroy)(other);
}

TEST_CASE("stand-in: an event holds back a stream that is eager") {
  StandIn gpu;
  Device device;
  Setting eager("STANDIN_STREAMS", "eager");
  CUstream other = nullptr;
  CUevent event = nullptr;
  REQUIRE(FIND(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(FIND(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
  REQUIRE(device.upload() == CUDA_SUCCESS);
  REQUIRE(FIND(cuEventRecord)(event, device.stream) == CUDA_SUCCESS);
  REQUIRE(FIND(cuStreamWaitEvent)(other, event, 0) == CUDA_SUCCESS);
  REQUIRE(FIND(cuMemsetD8Async)(device.memory, 2, 16, other) == CUDA_SUCCESS);
  CHECK(device.first() == 2); // after the upload
  FIND(cuEventDestroy)(event);
  FIND(cuStreamDestroy)(other);
}

TEST_CASE("stand-in: threads enter a context, and a fault ends it for all") {
  StandIn gpu;
  Device device;
  CUresult entered = CUDA_SUCCESS;
  std::thread([&] { entered = device.upload(); }).join();
  CHECK(entered == CUDA_ERROR_INVALID_CONTEXT);
  REQUIRE(FIND(cuMemcpyHtoDAsync)(device.memory + 8, device.pinned, 16, device.stream) ==
          CUDA_SUCCESS); // past the end
  CHECK(device.wait() == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(device.upload() == CUDA_ERROR_ILLEGAL_ADDRESS);
  gpu.reset();
  CHECK(device.upload() == CUDA_SUCCESS);
}
