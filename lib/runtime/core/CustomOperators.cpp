// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CustomOperators.h"

#include "CustomCall.h"

#include <cstdlib>
#include <filesystem>
#include <span>
#include <sstream>
#include <vector>

namespace accc::detail {

namespace {

/// Where the library may be, in the order in which to look; what is not there is left out.
std::vector<std::string> candidates(const std::string &name, const std::string &modelPath) {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  std::error_code ignored;
  auto addFile = [&](const fs::path &path) {
    if (fs::is_regular_file(path, ignored))
      found.push_back(fs::absolute(path, ignored).string());
  };
  if (const char *given = std::getenv("ACCC_CUSTOM_OPS")) {
    std::istringstream list(given);
    for (std::string item; std::getline(list, item, ':');) {
      if (fs::is_directory(item, ignored))
        addFile(fs::path(item) / name);
      else if (fs::path(item).filename() == name)
        addFile(item);
    }
  }
  addFile(fs::path(modelPath).parent_path() / name);
  return found;
}

CustomLibrary load(const std::string &name, const std::string &modelPath) {
  if (std::vector<std::string> paths = candidates(name, modelPath); !paths.empty())
    return CustomLibrary::load(paths.front());
  try {
    return CustomLibrary::load(name);
  } catch (const Error &error) {
    throw Error(ErrorKind::machine,
                modelPath + " calls custom operators of " + name +
                    ", which was looked for where ACCC_CUSTOM_OPS says, beside the model and by "
                    "the loader (RPATH, LD_LIBRARY_PATH, ldconfig): " +
                    error.what());
  }
}

} // namespace

CustomOperators::CustomOperators(const accc_code &code, const std::string &modelPath) {
  CustomTarget target =
      std::string_view(code.target) == "cuda" ? CustomTarget::cuda : CustomTarget::cpu;
  for (const accc_entry &entry : std::span(code.entries, static_cast<size_t>(code.num_entries)))
    for (const accc_custom_call &call :
         std::span(entry.custom_calls, static_cast<size_t>(entry.num_custom_calls))) {
      auto library = libraries.find(std::string_view(call.library));
      if (library == libraries.end())
        library = libraries.emplace(call.library, load(call.library, modelPath)).first;
      auto refuse = [&](const std::string &why) {
        throw Error(ErrorKind::data, modelPath + " was compiled with another " + call.library +
                                         " than " + library->second.path() + ": " + call.name +
                                         ": " + why + "; compile the model again");
      };
      const accc_custom_operator *op = library->second.find(call.name);
      if (!op)
        refuse("there is no such operator");
      if (auto why = whyOperatorDiffers(call, *op, target))
        refuse(*why);
    }
}

} // namespace accc::detail
