// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU as this program has it: not at all. In place of the runtime's own, which needs oneDNN.
#include "core/Device.h"

namespace accc::detail {

namespace {
class NoCpu final : public Platform {
public:
  std::optional<std::string> whyUnable(std::string_view) const override {
    return "accc itself: this program runs code for GPUs alone";
  }
  std::optional<std::string> whyUnsupported(const accc_library_call &) const override {
    return whyUnable("");
  }
  std::unique_ptr<Device> open(const accc_model_description &, const accc_code &,
                               const DeviceOptions &) const override {
    throw Error(ErrorKind::machine, "a session on the CPU needs " + *whyUnable(""));
  }
};
} // namespace

const Platform &cpuPlatform() {
  static const NoCpu platform;
  return platform;
}

} // namespace accc::detail
