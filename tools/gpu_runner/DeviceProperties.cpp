// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DeviceProperties.h"

#include <stdexcept>

namespace accc::tool {

using namespace detail;

namespace {

/// In the words that cuDNN reads and writes. Clocks are in kHz.
constexpr const char *a100 = R"({"deviceName": "NVIDIA A100-SXM4-80GB", "deviceVer": 800,
  "driverVer": 13000, "cudaDeviceId": 0, "pciDeviceId": 0, "isTccDriver": 0, "supportCoopLaunch": 1,
  "totalGlobalMem": 85049999360, "l2CacheSize": 41943040, "multiProcessorCount": 108,
  "smClockRateKHz": 1410000, "memClockRateKHz": 1593000, "warpSize": 32,
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "maxCtasPerSM": 32, "regsPerBlock": 65536,
  "maxRegistersPerSM": 65536, "maxSharedMemoryPerBlock": 49152,
  "maxSharedMemoryPerBlockOptin": 166912, "reservedSharedMemoryPerBlock": 1024})";
constexpr const char *h100 = R"({"deviceName": "NVIDIA H100 80GB HBM3", "deviceVer": 900,
  "driverVer": 13000, "cudaDeviceId": 0, "pciDeviceId": 0, "isTccDriver": 0, "supportCoopLaunch": 1,
  "totalGlobalMem": 85029158912, "l2CacheSize": 52428800, "multiProcessorCount": 132,
  "smClockRateKHz": 1980000, "memClockRateKHz": 2619000, "warpSize": 32,
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "maxCtasPerSM": 32, "regsPerBlock": 65536,
  "maxRegistersPerSM": 65536, "maxSharedMemoryPerBlock": 49152,
  "maxSharedMemoryPerBlockOptin": 232448, "reservedSharedMemoryPerBlock": 1024})";

} // namespace

#if CUDNN_VERSION >= 90800

const CudnnFunctions *findPlanner(std::string &why) {
  const CudnnFunctions *functions = CudnnFunctions::find(why);
  if (!functions)
    return nullptr;
  CudnnNode node(*functions, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  std::string text = h100;
  node.setAll(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, text);
  if (node.finalize() == CUDNN_STATUS_SUCCESS)
    return functions;
  why = "this libcudnn.so.9 does not plan without a device";
  return nullptr;
}

CudnnNode propertiesOf(const CudnnFunctions &functions, PlannedDevice device) {
  CudnnNode node(functions, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  std::string text = device == PlannedDevice::A100 ? a100 : h100;
  node.setAll(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, text);
  functions.check(node.finalize(), "describing a device");
  return node;
}

#else

const CudnnFunctions *findPlanner(std::string &why) {
  why = "cudnn.h is older than 9.8, of which plans need a device";
  return nullptr;
}

CudnnNode propertiesOf(const CudnnFunctions &, PlannedDevice) {
  throw std::logic_error("findPlanner() found none");
}

#endif

} // namespace accc::tool
