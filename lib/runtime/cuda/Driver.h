// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA driver's functions, looked up in libcuda.so.1 when this process first needs them.
#ifndef ACCC_RUNTIME_CUDA_DRIVER_H
#define ACCC_RUNTIME_CUDA_DRIVER_H

#include <cuda.h>
#include <cudaTypedefs.h>

#include <string>
#include <type_traits>

namespace accc::detail {

/// The functions used, each with the version of its signature: all are those of CUDA 12.0 or
/// earlier, whatever headers this is compiled with.
#define ACCC_CUDA_DRIVER_FUNCTIONS(F)                                                              \
  F(cuInit, v2000)                                                                                 \
  F(cuDriverGetVersion, v2020)                                                                     \
  F(cuGetErrorName, v6000)                                                                         \
  F(cuGetErrorString, v6000)                                                                       \
  F(cuDeviceGetCount, v2000)                                                                       \
  F(cuDeviceGet, v2000)                                                                            \
  F(cuDeviceGetName, v2000)                                                                        \
  F(cuDeviceGetAttribute, v2000)                                                                   \
  F(cuDevicePrimaryCtxRetain, v7000)                                                               \
  F(cuDevicePrimaryCtxRelease, v11000)                                                             \
  F(cuCtxSetCurrent, v4000)                                                                        \
  F(cuMemGetInfo, v3020)                                                                           \
  F(cuMemAlloc, v3020)                                                                             \
  F(cuMemFree, v3020)                                                                              \
  F(cuMemAllocHost, v3020)                                                                         \
  F(cuMemFreeHost, v2000)                                                                          \
  F(cuMemcpyHtoDAsync, v3020)                                                                      \
  F(cuMemcpyDtoHAsync, v3020)                                                                      \
  F(cuMemcpyDtoDAsync, v3020)                                                                      \
  F(cuMemcpy3DAsync, v3020)                                                                        \
  F(cuMemsetD8Async, v3020)                                                                        \
  F(cuMemsetD2D8Async, v3020)                                                                      \
  F(cuStreamCreate, v2000)                                                                         \
  F(cuStreamDestroy, v4000)                                                                        \
  F(cuStreamSynchronize, v2000)                                                                    \
  F(cuStreamWaitEvent, v3020)                                                                      \
  F(cuStreamBeginCapture, v10010)                                                                  \
  F(cuStreamEndCapture, v10000)                                                                    \
  F(cuStreamGetCaptureInfo, v11030)                                                                \
  F(cuStreamUpdateCaptureDependencies, v11030)                                                     \
  F(cuEventCreate, v2000)                                                                          \
  F(cuEventDestroy, v4000)                                                                         \
  F(cuEventSynchronize, v2000)                                                                     \
  F(cuEventRecord, v2000)                                                                          \
  F(cuEventElapsedTime, v2000)                                                                     \
  F(cuModuleLoadDataEx, v2010)                                                                     \
  F(cuModuleUnload, v2000)                                                                         \
  F(cuModuleGetFunction, v2000)                                                                    \
  F(cuFuncSetAttribute, v9000)                                                                     \
  F(cuLaunchKernel, v4000)                                                                         \
  F(cuGraphInstantiateWithFlags, v11040)                                                           \
  F(cuGraphLaunch, v10000)                                                                         \
  F(cuGraphExecDestroy, v10000)                                                                    \
  F(cuGraphDestroy, v10000)

/// Members are called as the driver's functions are.
class Driver {
public:
  /// The driver of this machine, initialised; nullptr where there is none, and then `why` says what
  /// is missing.
  static const Driver *find(std::string &why);

  /// Throws Error (machine) unless `result` is CUDA_SUCCESS. `doing` says what was asked of the
  /// device ("allocating 12 bytes for the state"): a text, or a function that puts it together, so
  /// that steps that succeed do not.
  template <typename Doing> void check(CUresult result, const Doing &doing) const {
    if (result == CUDA_SUCCESS) [[likely]]
      return;
    if constexpr (std::is_invocable_v<Doing>)
      fail(result, doing());
    else
      fail(result, doing);
  }

  // The macros of cuda.h that give some of these names a version apply to callers as well.
#define ACCC_CUDA_MEMBER(name, version) PFN_##name##_##version name = nullptr;
  ACCC_CUDA_DRIVER_FUNCTIONS(ACCC_CUDA_MEMBER)
#undef ACCC_CUDA_MEMBER

private:
  Driver() = default;
  bool load(std::string &why);
  [[noreturn]] void fail(CUresult result, const std::string &doing) const;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_DRIVER_H
