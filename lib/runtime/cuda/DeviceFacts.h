// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the driver says of a device.
#ifndef ACCC_RUNTIME_CUDA_DEVICEFACTS_H
#define ACCC_RUNTIME_CUDA_DEVICEFACTS_H

#include "Driver.h"

#include <optional>
#include <string>

namespace accc::detail {

/// A compute capability.
struct Capability {
  int major = 0, minor = 0;
  std::string text() const { return std::to_string(major) + "." + std::to_string(minor); }
};

struct DeviceFacts {
  std::string name; // "NVIDIA H200"
  Capability capability;

  /// Of the device with this number, among those that the process may use; nothing where the driver
  /// does not say.
  static std::optional<DeviceFacts> find(const Driver &driver, int number);
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_DEVICEFACTS_H
