// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DeviceProperties.h"

#include <stdexcept>

namespace accc::tool {

using namespace detail;

namespace {

struct Properties {
  const char *name;
  int capability;     ///< 900: 9.0
  int64_t memory, l2; ///< in bytes
  int multiprocessors;
  int kiloHertz;       ///< of these
  int threads, blocks; ///< of a multiprocessor
  int64_t sharedBytes; ///< that a block may ask for
};

constexpr int64_t GiB = int64_t(1) << 30, MiB = int64_t(1) << 20, KiB = int64_t(1) << 10;

Properties propertiesOf(PlannedDevice device) {
  switch (device) {
  case PlannedDevice::A100:
    return {"NVIDIA A100-SXM4-80GB", 800, 79 * GiB, 40 * MiB, 108, 1410000, 2048, 32, 163 * KiB};
  case PlannedDevice::RTX3090:
    return {"NVIDIA GeForce RTX 3090", 860, 23 * GiB, 6 * MiB, 82, 1695000, 1536, 16, 99 * KiB};
  case PlannedDevice::L40S:
    return {"NVIDIA L40S", 890, 44 * GiB, 96 * MiB, 142, 2520000, 1536, 24, 99 * KiB};
  case PlannedDevice::H100:
    return {"NVIDIA H100 80GB HBM3", 900, 79 * GiB, 50 * MiB, 132, 1980000, 2048, 32, 227 * KiB};
  case PlannedDevice::B200:
    return {"NVIDIA B200", 1000, 178 * GiB, 126 * MiB, 148, 1965000, 2048, 32, 227 * KiB};
  case PlannedDevice::RTX5090:
    return {"NVIDIA GeForce RTX 5090", 1200, 31 * GiB, 96 * MiB, 170, 2407000, 1536, 24, 99 * KiB};
  }
  throw std::logic_error("no such device");
}

/// In the words that cuDNN reads and writes. Clocks are in kHz.
std::string describe(PlannedDevice device) {
  Properties p = propertiesOf(device);
  auto entry = [](const char *name, int64_t value) {
    return ", \"" + std::string(name) + "\": " + std::to_string(value);
  };
  return R"({"deviceName": ")" + std::string(p.name) + "\"" + entry("deviceVer", p.capability) +
         entry("totalGlobalMem", p.memory) + entry("l2CacheSize", p.l2) +
         entry("multiProcessorCount", p.multiprocessors) + entry("smClockRateKHz", p.kiloHertz) +
         entry("maxThreadsPerSM", p.threads) + entry("maxCtasPerSM", p.blocks) +
         entry("maxSharedMemoryPerBlockOptin", p.sharedBytes) +
         R"(, "driverVer": 13000, "cudaDeviceId": 0, "pciDeviceId": 0, "isTccDriver": 0,
             "supportCoopLaunch": 1, "memClockRateKHz": 2619000, "warpSize": 32,
             "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
             "maxThreadsPerBlock": 1024, "regsPerBlock": 65536, "maxRegistersPerSM": 65536,
             "maxSharedMemoryPerBlock": 49152, "reservedSharedMemoryPerBlock": 1024})";
}

} // namespace

#if CUDNN_VERSION >= 90800

const CudnnFunctions *findPlanner(std::string &why) {
  const CudnnFunctions *functions = CudnnFunctions::find(why);
  if (!functions)
    return nullptr;
  CudnnNode node(*functions, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  std::string text = describe(PlannedDevice::H100);
  node.setAll(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, text);
  if (node.finalize() == CUDNN_STATUS_SUCCESS)
    return functions;
  why = "this libcudnn.so.9 does not plan without a device";
  return nullptr;
}

CudnnNode propertiesOf(const CudnnFunctions &functions, PlannedDevice device) {
  CudnnNode node(functions, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  std::string text = describe(device);
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
