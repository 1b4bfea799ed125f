// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Device.h"

#include "DeviceLibrary.h"

namespace accc::detail {

const Platform *findPlatform(std::string_view target) {
  static const DeviceLibrary cuda("cuda");
  if (target == "cpu")
    return &cpuPlatform();
  return target == "cuda" ? &cuda : nullptr;
}

} // namespace accc::detail
