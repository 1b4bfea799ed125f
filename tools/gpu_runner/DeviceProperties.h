// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_TOOLS_GPURUNNER_DEVICEPROPERTIES_H
#define ACCC_TOOLS_GPURUNNER_DEVICEPROPERTIES_H

#include "cuda/CudnnGraph.h"

#include <string>
#include <utility>

namespace accc::tool {

/// Devices that cuDNN can plan for by their properties.
enum class PlannedDevice { A100, RTX3090, L40S, H100, B200, RTX5090 };
/// Each, as options name it.
inline constexpr std::pair<const char *, PlannedDevice> plannedDevices[] = {
    {"a100", PlannedDevice::A100}, {"rtx3090", PlannedDevice::RTX3090},
    {"l40s", PlannedDevice::L40S}, {"h100", PlannedDevice::H100},
    {"b200", PlannedDevice::B200}, {"rtx5090", PlannedDevice::RTX5090},
};

/// cuDNN as the runtime finds it, where it plans without a device (since 9.8); else nullptr, and
/// `why` says what is missing.
const detail::CudnnFunctions *findPlanner(std::string &why);

/// The device's properties, as CudnnMachine takes them.
detail::CudnnNode propertiesOf(const detail::CudnnFunctions &functions, PlannedDevice device);

} // namespace accc::tool

#endif // ACCC_TOOLS_GPURUNNER_DEVICEPROPERTIES_H
