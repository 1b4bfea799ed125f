// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Instructions.h"

#include "accc/cpu_features.h"

namespace accc::detail {

namespace {

/// Whether the CPU has a feature or level of LLVM's name; nothing where the name is not one we
/// know.
std::optional<bool> has(std::string_view name) {
#if defined(__x86_64__)
  // __builtin_cpu_supports takes literals only; its names are LLVM's.
#define ACCC_FEATURE(NAME)                                                                         \
  if (name == NAME)                                                                                \
    return __builtin_cpu_supports(NAME) != 0;
  ACCC_FEATURE("x86-64")
  ACCC_FEATURE("x86-64-v2")
  ACCC_FEATURE("x86-64-v3")
  ACCC_FEATURE("x86-64-v4")
  ACCC_CPU_FEATURES(ACCC_FEATURE)
#undef ACCC_FEATURE
#endif
  return std::nullopt;
}

} // namespace

std::optional<std::string> missingInstructions(std::string_view arch) {
  size_t colon = arch.find(':');
  std::string_view level = arch.substr(0, colon);
  std::string missing;
  auto require = [&](std::string_view name) {
    if (!has(name).value_or(true)) // a name unknown here cannot be judged
      missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
  require(level);
  if (!missing.empty())
    return "a CPU of the level " + missing;
  std::string_view features = colon == std::string_view::npos ? "" : arch.substr(colon + 1);
  while (!features.empty()) {
    size_t comma = features.find(',');
    require(features.substr(0, comma));
    features = comma == std::string_view::npos ? "" : features.substr(comma + 1);
  }
  return missing.empty() ? std::nullopt : std::optional("a CPU with " + missing);
}

bool isIntel() {
#if defined(__x86_64__)
  return __builtin_cpu_is("intel") != 0;
#else
  return false;
#endif
}

} // namespace accc::detail
