// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Device.h"

namespace accc::detail {

const Platform *findPlatform(std::string_view target) {
  return target == "cpu" ? &cpuPlatform() : nullptr;
}

} // namespace accc::detail
