// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What libaccc_cuda.so gives to the runtime that loads it.
#include "CudaDevice.h"
#include "DeviceFacts.h"

#include "core/DeviceLibrary.h"

#include <charconv>
#include <string_view>

namespace accc::detail {

namespace {

/// What accc_code.arch asks for: "sm_90", "compute_90", or one of these with an "a", for exactly
/// this capability.
struct Needed {
  Capability capability;
  bool binary = false; // else PTX, which is compiled for the device when it is loaded
  bool exact = false;

  static std::optional<Needed> parse(std::string_view arch);
  bool isMetBy(Capability device) const;
  std::string text() const;
};

std::optional<Needed> Needed::parse(std::string_view arch) {
  Needed needed;
  needed.binary = arch.starts_with("sm_");
  if (!needed.binary && !arch.starts_with("compute_"))
    return std::nullopt;
  arch.remove_prefix(arch.find('_') + 1);
  int number = 0;
  auto [end, error] = std::from_chars(arch.data(), arch.data() + arch.size(), number);
  std::string_view rest(end, static_cast<size_t>(arch.data() + arch.size() - end));
  if (error != std::errc() || number < 10 || (!rest.empty() && rest != "a"))
    return std::nullopt;
  needed.exact = rest == "a";
  needed.capability = {number / 10, number % 10};
  return needed;
}

bool Needed::isMetBy(Capability device) const {
  if (exact)
    return device.major == capability.major && device.minor == capability.minor;
  if (device.major == capability.major)
    return device.minor >= capability.minor;
  return !binary && device.major > capability.major;
}

std::string Needed::text() const {
  std::string text = "a GPU of compute capability " + capability.text();
  if (exact)
    return text;
  return binary ? text + " or a later " + std::to_string(capability.major) + ".x"
                : text + " or later";
}

class CudaPlatform final : public Platform {
public:
  std::optional<std::string> whyUnable(std::string_view arch) const override {
    auto needed = Needed::parse(arch);
    if (!needed)
      return "a runtime that knows " + std::string(arch);
    std::string why;
    const Driver *driver = Driver::find(why);
    if (!driver)
      return why;
    int count = 0;
    if (driver->cuDeviceGetCount(&count) != CUDA_SUCCESS || count < 1)
      return "an NVIDIA GPU, of which the driver sees none";
    std::optional<DeviceFacts> device = DeviceFacts::find(*driver, 0);
    if (!device)
      return "an NVIDIA GPU that says what it is";
    if (!needed->isMetBy(device->capability))
      return needed->text() + "; the first one here, " + device->name + ", has " +
             device->capability.text();
    return std::nullopt;
  }

  std::optional<std::string> whyUnsupported(const accc_library_call &call) const override {
    return whyCudaCannot(call);
  }

  std::unique_ptr<Device> open(const accc_model_description &model, const accc_code &code,
                               const DeviceOptions &options) const override {
    std::string why;
    const Driver *driver = Driver::find(why);
    if (!driver)
      throw Error(ErrorKind::machine, "a session on the GPU needs " + why);
    return std::make_unique<CudaDevice>(*driver, model, code, options);
  }
};

} // namespace

} // namespace accc::detail

extern "C" __attribute__((visibility("default"))) const accc::detail::Platform *
accc_device_platform(const char *interface) {
  static const accc::detail::CudaPlatform platform;
  return std::string_view(interface) == accc::detail::deviceInterface ? &platform : nullptr;
}
