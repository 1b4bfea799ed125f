// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/NamePattern.h"

#include "llvm/ADT/STLExtras.h"

using namespace accc;
using llvm::StringRef;

llvm::Expected<NamePattern> NamePattern::parse(StringRef option, StringRef text) {
  llvm::Regex expression(text);
  std::string full = (option + " " + text).str(), error;
  if (!expression.isValid(error))
    return llvm::createStringError(std::errc::invalid_argument, (full + ": " + error).c_str());
  return NamePattern(std::move(expression), std::move(full));
}

bool NamePattern::matches(StringRef name, const OtherNames &otherNames) const {
  if (expression.match(name))
    return true;
  auto others = otherNames.find(name.str());
  return others != otherNames.end() && llvm::any_of(others->second, [&](const std::string &other) {
           return expression.match(other);
         });
}
