// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Manifest.h"

#include <nlohmann/json.hpp>

namespace accc::detail {

/// The member, or null where the manifest does not have it.
static nlohmann::json readMember(const char *manifest, const char *key) {
  nlohmann::json json = nlohmann::json::parse(manifest, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json.value(key, nlohmann::json()) : nlohmann::json();
}

std::map<std::string, std::string, std::less<>> readAliases(const char *manifest) {
  std::map<std::string, std::string, std::less<>> aliases;
  const nlohmann::json found = readMember(manifest, "aliases");
  if (!found.is_object())
    return aliases;
  for (const auto &[name, others] : found.items())
    for (const nlohmann::json &alias : others)
      if (alias.is_string())
        aliases[alias.get<std::string>()] = name;
  return aliases;
}

std::optional<double> readLearningRate(const char *manifest) {
  const nlohmann::json found = readMember(manifest, "learning_rate");
  return found.is_number() ? std::optional(found.get<double>()) : std::nullopt;
}

std::string readModelHash(const char *manifest) {
  const nlohmann::json found = readMember(manifest, "model_xxh128");
  std::string text;
  for (const nlohmann::json &hash : found)
    if (hash.is_string())
      text += (text.empty() ? "" : ",") + hash.get<std::string>();
  return text;
}

} // namespace accc::detail
