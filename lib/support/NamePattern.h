// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters that the command line speaks of.
#ifndef ACCC_SUPPORT_NAMEPATTERN_H
#define ACCC_SUPPORT_NAMEPATTERN_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

struct pcre2_real_code_8;

namespace accc {

/// Other names of tied parameters, by the name that the model knows them by.
using OtherNames = std::map<std::string, std::vector<std::string>>;

/// A regular expression that is found anywhere in a parameter's name, or in another name of it:
/// `^encoder\.` is a module, `\.bias$` all biases. It is read as Python reads it (`\d`, `\w`,
/// `(?!...)`), in which the same expressions choose parameters of a PyTorch module.
class NamePattern {
public:
  /// `option` is named in the error, which is one line: "--freeze".
  static llvm::Expected<NamePattern> parse(llvm::StringRef option, llvm::StringRef text);

  bool matches(llvm::StringRef name, const OtherNames &otherNames) const;
  /// As it was given, with its option: "--freeze ^encoder".
  const std::string &getText() const { return text; }

private:
  struct Free {
    void operator()(pcre2_real_code_8 *code) const;
  };
  using Expression = std::unique_ptr<pcre2_real_code_8, Free>;

  NamePattern(Expression expression, std::string text)
      : expression(std::move(expression)), text(std::move(text)) {}
  bool isFoundIn(llvm::StringRef name) const;

  Expression expression;
  std::string text;
};

} // namespace accc

#endif
