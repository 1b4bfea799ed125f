// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --input NAME=TYPE[SIZE,...]
#include "Command.h"

#include <cctype>
#include <optional>
#include <string>

using namespace accc;

void accc::tool::addInput(CompileOptions &options, const std::string &text) {
  size_t equals = text.find('='), bracket = text.find('[');
  std::string name = text.substr(0, equals);
  if (name.empty() || bracket == std::string::npos || equals >= bracket - 1 || text.back() != ']')
    throw CLI::ValidationError("--input", "needs NAME=TYPE[SIZE,...], as in --input "
                                          "x=float32[8,16], not " +
                                              text);
  InputOption input{text.substr(equals + 1, bracket - equals - 1), {}, options.inputs.size()};
  std::string sizes = text.substr(bracket + 1, text.size() - bracket - 2);
  // A tensor without dimensions has none.
  for (const std::string &size :
       sizes.empty() ? std::vector<std::string>() : splitList("--input", sizes)) {
    bool isName =
        !size.empty() && (std::isalpha(static_cast<unsigned char>(size[0])) || size[0] == '_');
    std::optional<int64_t> number = toWholeNumber(size);
    if (!isName && (!number || *number < 1))
      throw CLI::ValidationError("--input",
                                 "needs positive sizes or names, not '" + size + "' in " + text);
    input.dimensions.push_back(size);
  }
  if (!options.inputs.insert({name, input}).second)
    throw CLI::ValidationError("--input", "names the input '" + name + "' twice");
}
