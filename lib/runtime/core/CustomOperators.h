// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The custom operators that a model calls, found in the libraries that it names.
#ifndef ACCC_RUNTIME_CORE_CUSTOMOPERATORS_H
#define ACCC_RUNTIME_CORE_CUSTOMOPERATORS_H

#include "accc/custom_library.h"

#include <map>
#include <string>

namespace accc::detail {

class CustomOperators {
public:
  /// None.
  CustomOperators() = default;
  /// Those of all entry points of `code`. A library is looked for among the files and in the
  /// folders that the environment variable ACCC_CUSTOM_OPS names (separated by ':'), beside the
  /// model
  /// (`modelPath`), and where the loader looks. Throws Error (machine) where one is not found, and
  /// (data) where one is not what the model was compiled with.
  CustomOperators(const accc_code &code, const std::string &modelPath);

  /// Of a call of that code.
  const accc_custom_operator &find(const accc_custom_call &call) const {
    return *libraries.find(std::string_view(call.library))->second.find(call.name);
  }

private:
  std::map<std::string, CustomLibrary, std::less<>> libraries; // by file name
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CORE_CUSTOMOPERATORS_H
