// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the driver's functions are found and their errors named, and what tests ask of the stand-in.
#include "Entry.h"

#include <cstring>

using namespace standin;

namespace {

struct ErrorText {
  CUresult result;
  const char *name, *text;
};

constexpr ErrorText errors[] = {
#define STANDIN_ERROR(name, text) {CUDA_##name, "CUDA_" #name, text}
    STANDIN_ERROR(SUCCESS, "no error"),
    STANDIN_ERROR(ERROR_INVALID_VALUE, "invalid argument"),
    STANDIN_ERROR(ERROR_OUT_OF_MEMORY, "out of memory"),
    STANDIN_ERROR(ERROR_NOT_INITIALIZED, "initialization error"),
    STANDIN_ERROR(ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    STANDIN_ERROR(ERROR_INVALID_DEVICE, "invalid device ordinal"),
    STANDIN_ERROR(ERROR_INVALID_CONTEXT, "invalid device context"),
    STANDIN_ERROR(ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution"),
    STANDIN_ERROR(ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    STANDIN_ERROR(ERROR_INVALID_HANDLE, "invalid resource handle"),
    STANDIN_ERROR(ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    STANDIN_ERROR(ERROR_NOT_FOUND, "named symbol not found"),
    STANDIN_ERROR(ERROR_NOT_READY, "device not ready"),
    STANDIN_ERROR(ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    STANDIN_ERROR(ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    STANDIN_ERROR(ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    STANDIN_ERROR(ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    STANDIN_ERROR(ERROR_STREAM_CAPTURE_UNSUPPORTED,
                  "operation not permitted when stream is capturing"),
    STANDIN_ERROR(ERROR_STREAM_CAPTURE_INVALIDATED,
                  "operation failed due to a previous error during capture"),
    STANDIN_ERROR(ERROR_UNKNOWN, "unknown error"),
#undef STANDIN_ERROR
};

const ErrorText *find(CUresult result) {
  for (const ErrorText &error : errors)
    if (error.result == result)
      return &error;
  return nullptr;
}

} // namespace

CUresult cuGetErrorName(CUresult result, const char **name) {
  const ErrorText *error = find(result);
  *name = error ? error->name : nullptr;
  return error ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **text) {
  const ErrorText *error = find(result);
  *text = error ? error->text : nullptr;
  return error ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetProcAddress(const char *name, void **address, int version, cuuint64_t,
                          CUdriverProcAddressQueryResult *found) {
  static const std::map<std::string, void *> functions = {
#define STANDIN_FUNCTION(function) {#function, reinterpret_cast<void *>(function)}
      STANDIN_FUNCTION(cuInit),
      STANDIN_FUNCTION(cuDriverGetVersion),
      STANDIN_FUNCTION(cuGetErrorName),
      STANDIN_FUNCTION(cuGetErrorString),
      STANDIN_FUNCTION(cuDeviceGetCount),
      STANDIN_FUNCTION(cuDeviceGet),
      STANDIN_FUNCTION(cuDeviceGetName),
      STANDIN_FUNCTION(cuDeviceGetAttribute),
      STANDIN_FUNCTION(cuDevicePrimaryCtxRetain),
      STANDIN_FUNCTION(cuDevicePrimaryCtxRelease),
      STANDIN_FUNCTION(cuCtxSetCurrent),
      STANDIN_FUNCTION(cuMemGetInfo),
      STANDIN_FUNCTION(cuMemAlloc),
      STANDIN_FUNCTION(cuMemFree),
      STANDIN_FUNCTION(cuMemAllocHost),
      STANDIN_FUNCTION(cuMemFreeHost),
      STANDIN_FUNCTION(cuMemcpyHtoDAsync),
      STANDIN_FUNCTION(cuMemcpyDtoHAsync),
      STANDIN_FUNCTION(cuMemcpyDtoDAsync),
      STANDIN_FUNCTION(cuMemcpy3DAsync),
      STANDIN_FUNCTION(cuMemsetD8Async),
      STANDIN_FUNCTION(cuMemsetD2D8Async),
      STANDIN_FUNCTION(cuStreamCreate),
      STANDIN_FUNCTION(cuStreamDestroy),
      STANDIN_FUNCTION(cuStreamSynchronize),
      STANDIN_FUNCTION(cuStreamWaitEvent),
      STANDIN_FUNCTION(cuStreamBeginCapture),
      STANDIN_FUNCTION(cuStreamEndCapture),
      STANDIN_FUNCTION(cuEventCreate),
      STANDIN_FUNCTION(cuEventDestroy),
      STANDIN_FUNCTION(cuEventRecord),
      STANDIN_FUNCTION(cuEventSynchronize),
      STANDIN_FUNCTION(cuEventElapsedTime),
      STANDIN_FUNCTION(cuModuleLoadDataEx),
      STANDIN_FUNCTION(cuModuleUnload),
      STANDIN_FUNCTION(cuModuleGetFunction),
      STANDIN_FUNCTION(cuFuncSetAttribute),
      STANDIN_FUNCTION(cuLaunchKernel),
      STANDIN_FUNCTION(cuGraphInstantiateWithFlags),
      STANDIN_FUNCTION(cuGraphLaunch),
      STANDIN_FUNCTION(cuGraphExecDestroy),
      STANDIN_FUNCTION(cuGraphDestroy),
#undef STANDIN_FUNCTION
      {"cuStreamGetCaptureInfo", reinterpret_cast<void *>(getCaptureInfo)},
      {"cuStreamUpdateCaptureDependencies", reinterpret_cast<void *>(updateCaptureDependencies)},
  };
  auto entry = functions.find(name);
  bool known = entry != functions.end() && setting("STANDIN_LACKS", "") != name;
  *address = known ? entry->second : nullptr;
  if (found)
    *found = known ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return version > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

extern "C" {

/// As if the process had just begun: no fault, nothing counted.
void standin_reset() { Device::get().reset(); }

/// Calls of a function since then.
int standin_calls(const char *function) { return Device::get().calls(function); }

/// Bytes of device memory that are allocated.
uint64_t standin_bytes() { return Device::get().memory.bytesInUse(); }
}
