// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Without LLVM, as programs that have none print profiles, too.
#include "support/ModuleNames.h"

#include <algorithm>
#include <string_view>

using namespace accc;

namespace {
constexpr size_t kMostRests = 3;

using Path = std::vector<std::string>;

Path split(std::string_view name) {
  Path parts;
  for (size_t dot; (dot = name.find('.')) != name.npos; name.remove_prefix(dot + 1))
    parts.emplace_back(name.substr(0, dot));
  parts.emplace_back(name);
  return parts;
}

std::vector<Path> splitAll(const std::vector<std::string> &names) {
  std::vector<Path> paths;
  for (const std::string &name : names)
    paths.push_back(split(name));
  return paths;
}

std::string join(Path::const_iterator begin, Path::const_iterator end) {
  std::string text;
  for (auto part = begin; part != end; ++part)
    text += (part == begin ? "" : ".") + *part;
  return text;
}

size_t commonParts(const std::vector<Path> &paths) {
  size_t common = 0;
  while (std::all_of(paths.begin(), paths.end(), [&](const Path &path) {
    return common < path.size() && path[common] == paths.front()[common];
  }))
    ++common;
  return common;
}

void dropEqual(std::vector<std::string> &names) {
  std::vector<std::string> kept;
  for (std::string &name : names)
    if (!name.empty() && std::find(kept.begin(), kept.end(), name) == kept.end())
      kept.push_back(std::move(name));
  names = std::move(kept);
}
} // namespace

std::string accc::nameModules(std::vector<std::string> modules) {
  dropEqual(modules);
  if (modules.empty())
    return "";
  std::vector<Path> paths = splitAll(modules);
  auto common = static_cast<Path::difference_type>(commonParts(paths));
  std::string prefix = join(paths.front().begin(), paths.front().begin() + common), rests;
  bool many = paths.size() > kMostRests;
  for (const Path &path : paths) {
    if (path.begin() + common == path.end())
      return prefix; // one is the module that the others are members of
    rests += (rests.empty() ? "" : ",") + join(path.begin() + common, path.end());
  }
  if (prefix.empty())
    return many ? "*" : rests;
  return prefix + "." + (many ? "*" : "{" + rests + "}");
}

std::string accc::mergeModuleNames(const std::vector<std::string> &names) {
  std::vector<std::string> modules;
  bool isBackward = false;
  for (std::string name : names) {
    if (name.ends_with(kBackwardSuffix)) {
      isBackward = true;
      name.resize(name.size() - std::string_view(kBackwardSuffix).size());
    }
    modules.push_back(std::move(name));
  }
  dropEqual(modules);
  if (modules.empty())
    return "";
  std::vector<Path> paths = splitAll(modules);
  Path merged = paths.front();
  if (std::all_of(paths.begin(), paths.end(),
                  [&](const Path &path) { return path.size() == merged.size(); })) {
    for (const Path &path : paths)
      for (size_t i = 0; i < merged.size(); ++i)
        if (merged[i] != path[i])
          merged[i] = "*";
  } else {
    merged.resize(commonParts(paths));
    merged.push_back("*");
  }
  return join(merged.begin(), merged.end()) + (isBackward ? kBackwardSuffix : "");
}
