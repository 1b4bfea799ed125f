// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DeviceFacts.h"

#include <array>

namespace accc::detail {

std::optional<DeviceFacts> DeviceFacts::find(const Driver &driver, int number) {
  CUdevice device = 0;
  std::array<char, 128> name{};
  DeviceFacts facts;
  auto get = [&](CUdevice_attribute attribute, int &value) {
    return driver.cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS;
  };
  if (driver.cuDeviceGet(&device, number) != CUDA_SUCCESS ||
      driver.cuDeviceGetName(name.data(), static_cast<int>(name.size() - 1), device) !=
          CUDA_SUCCESS ||
      !get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, facts.capability.major) ||
      !get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, facts.capability.minor))
    return std::nullopt;
  facts.name = name.data();
  return facts;
}

} // namespace accc::detail
