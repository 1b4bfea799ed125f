// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_TOOLS_GPURUNNER_DEVICEPROPERTIES_H
#define ACCC_TOOLS_GPURUNNER_DEVICEPROPERTIES_H

#include "cuda/CudnnGraph.h"

#include <string>

namespace accc::tool {

/// Devices that cuDNN can plan for by their properties.
enum class PlannedDevice { A100, H100 };

/// cuDNN as the runtime finds it, where it plans without a device (since 9.8); else nullptr, and
/// `why` says what is missing.
const detail::CudnnFunctions *findPlanner(std::string &why);

/// The device's properties, as CudnnMachine takes them.
detail::CudnnNode propertiesOf(const detail::CudnnFunctions &functions, PlannedDevice device);

} // namespace accc::tool

#endif // ACCC_TOOLS_GPURUNNER_DEVICEPROPERTIES_H
