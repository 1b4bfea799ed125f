// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries of custom operators, for the compiler and for sessions of this process.
#include "Command.h"

#include "accc/custom_library.h"

#include <cstdlib>
#include <filesystem>

using namespace accc;

void accc::tool::addCustomOps(CLI::App &command, std::vector<std::string> &libraries) {
  command
      .add_option("--custom-ops", libraries,
                  "Use the operators of your own that this shared library implements "
                  "(accc/custom_op.h); may be repeated")
      ->type_name("LIB.so")
      ->allow_extra_args(false);
}

void accc::tool::offerCustomOps(const std::vector<std::string> &libraries) {
  if (libraries.empty())
    return;
  std::string list;
  for (const std::string &library : libraries) {
    try {
      (void)CustomLibrary::load(std::filesystem::absolute(library).string());
    } catch (const Error &error) {
      throw Error(ErrorKind::usage, "--custom-ops " + library + ": " + error.what());
    }
    list += std::filesystem::absolute(library).string() + ":";
  }
  const char *before = std::getenv("ACCC_CUSTOM_OPS");
  ::setenv("ACCC_CUSTOM_OPS", (list + (before ? before : "")).c_str(), 1);
}
