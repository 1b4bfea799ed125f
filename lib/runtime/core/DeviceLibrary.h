// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Platforms that are a library of their own, so that programs need it, and what it stands on, only
// to run models for them.
#ifndef ACCC_RUNTIME_CORE_DEVICELIBRARY_H
#define ACCC_RUNTIME_CORE_DEVICELIBRARY_H

#include "Device.h"

#include <mutex>

namespace accc::detail {

/// What such a library must have been built with: Device.h's interface of this release. The number
/// is raised when that changes, so that a program built before says so, and does not call the wrong
/// functions.
inline constexpr const char deviceInterface[] = "accc " ACCC_VERSION ", device interface 6";

/// What the library exports. Gives its platform, or nullptr for another `interface` than its own.
extern "C" using accc_device_platform_function = const Platform * (const char *interface);
inline constexpr const char devicePlatformSymbol[] = "accc_device_platform";

/// Stands for the platform of libaccc_<target>.so, which is loaded when it is first asked for
/// something. It is looked for beside the program, in the folder of libraries next to the
/// program's, and where the loader looks: the program's RPATH, LD_LIBRARY_PATH, ldconfig.
class DeviceLibrary final : public Platform {
public:
  explicit DeviceLibrary(std::string target) : target(std::move(target)) {}

  /// Where the library cannot be loaded, that is what is missing.
  std::optional<std::string> whyUnable(std::string_view arch) const override;
  std::optional<std::string> whyUnsupported(const accc_library_call &call) const override;
  std::unique_ptr<Device> open(const accc_model_description &model, const accc_code &code,
                               const DeviceOptions &options) const override;

private:
  /// The library's platform; nullptr where it cannot be loaded, and then `why` says what is
  /// missing.
  const Platform *load(std::string &why) const;

  std::string target;
  mutable std::mutex loading;
  mutable const Platform *loaded = nullptr;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CORE_DEVICELIBRARY_H
