// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Aliases.h"

#include <nlohmann/json.hpp>

namespace accc::detail {

std::map<std::string, std::string, std::less<>> readAliases(const char *manifest) {
  std::map<std::string, std::string, std::less<>> aliases;
  nlohmann::json json = nlohmann::json::parse(manifest, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("aliases") || !json["aliases"].is_object())
    return aliases;
  for (const auto &[name, others] : json["aliases"].items())
    for (const nlohmann::json &alias : others)
      if (alias.is_string())
        aliases[alias.get<std::string>()] = name;
  return aliases;
}

} // namespace accc::detail
