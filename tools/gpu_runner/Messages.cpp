// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the commands say, where the compiler's own messages are not there: those need LLVM and
// spdlog.
#include "accc/Json.h"
#include "support/Log.h"
#include "support/Suggest.h"

#include <iostream>

using namespace accc;

/// What somebody meant who mistyped a name is not known here.
std::string accc::didYouMean(std::string_view, const std::vector<std::string> &) { return ""; }

void accc::log(LogLevel level, const std::string &text) {
  std::cerr << "gpu_runner: " << (level == LogLevel::Error ? "error" : "warning") << ": " << text
            << "\n";
}

nlohmann::ordered_json accc::tool::toJson(ErrorKind kind, const std::string &message) {
  const char *fault = kind == ErrorKind::usage     ? "usage"
                      : kind == ErrorKind::machine ? "machine"
                      : kind == ErrorKind::bug     ? "bug"
                                                   : "data";
  nlohmann::ordered_json problem{
      {"severity", "error"}, {"fault", fault}, {"node", ""}, {"op", ""}, {"message", message}};
  return {{"ok", false}, {"problems", nlohmann::ordered_json::array({problem})}};
}
