// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Instructions.h"

namespace accc::detail {

namespace {

/// Whether the CPU has a feature or level of LLVM's name; nothing where the name is not one we
/// know.
std::optional<bool> has(std::string_view name) {
#if defined(__x86_64__)
  // __builtin_cpu_supports takes literals only. The names are those of LLVM's feature strings, in
  // which a few differ from the compiler built-in's.
#define ACCC_FEATURE(LLVM_NAME, BUILTIN_NAME)                                                      \
  if (name == LLVM_NAME)                                                                           \
    return __builtin_cpu_supports(BUILTIN_NAME) != 0;
  ACCC_FEATURE("x86-64", "x86-64")
  ACCC_FEATURE("x86-64-v2", "x86-64-v2")
  ACCC_FEATURE("x86-64-v3", "x86-64-v3")
  ACCC_FEATURE("x86-64-v4", "x86-64-v4")
  ACCC_FEATURE("sse4.2", "sse4.2")
  ACCC_FEATURE("avx", "avx")
  ACCC_FEATURE("avx2", "avx2")
  ACCC_FEATURE("fma", "fma")
  ACCC_FEATURE("bmi", "bmi")
  ACCC_FEATURE("bmi2", "bmi2")
  ACCC_FEATURE("f16c", "f16c")
  ACCC_FEATURE("lzcnt", "lzcnt")
  ACCC_FEATURE("popcnt", "popcnt")
  ACCC_FEATURE("avx512f", "avx512f")
  ACCC_FEATURE("avx512bw", "avx512bw")
  ACCC_FEATURE("avx512cd", "avx512cd")
  ACCC_FEATURE("avx512dq", "avx512dq")
  ACCC_FEATURE("avx512vl", "avx512vl")
  ACCC_FEATURE("avx512bf16", "avx512bf16")
  ACCC_FEATURE("avx512vnni", "avx512vnni")
  ACCC_FEATURE("avx512ifma", "avx512ifma")
  ACCC_FEATURE("avx512vbmi", "avx512vbmi")
  ACCC_FEATURE("avx512vbmi2", "avx512vbmi2")
  ACCC_FEATURE("avx512bitalg", "avx512bitalg")
  ACCC_FEATURE("avx512vpopcntdq", "avx512vpopcntdq")
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
  std::string_view features = colon == std::string_view::npos ? "" : arch.substr(colon + 1);
  while (!features.empty()) {
    size_t comma = features.find(',');
    require(features.substr(0, comma));
    features = comma == std::string_view::npos ? "" : features.substr(comma + 1);
  }
  return missing.empty() ? std::nullopt : std::optional(missing);
}

} // namespace accc::detail
