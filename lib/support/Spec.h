// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The small language of `--loss` and `--optimizer`.
#ifndef ACCC_SUPPORT_SPEC_H
#define ACCC_SUPPORT_SPEC_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace accc {

/// A name with an optional value, and options: `name[=value][,option[=value]]...`, as in
/// `adamw,weight_decay=0.01` or `cross_entropy=logits,label_smoothing=0.1`. No spaces around `=`
/// and `,`.
///
/// The factory of the named loss or optimizer reads the options that it supports, with their
/// defaults, and then error(), which is empty or says everything that is wrong: text that does not
/// parse, values out of range, options that the factory does not have (with those that it has).
class Spec {
public:
  /// `what` names the thing in messages: "--loss".
  Spec(llvm::StringRef what, llvm::StringRef text);

  llvm::StringRef getName() const { return name; }
  llvm::StringRef getText() const { return text; }
  /// The value of the name itself, `cross_entropy=VALUE`.
  std::optional<std::string> getValue() const { return value; }

  /// A number in [low, high]; `fallback` where the option is absent.
  double number(llvm::StringRef option, double fallback, double low, double high);
  /// None where the option is absent.
  std::optional<double> number(llvm::StringRef option, double low, double high);
  std::optional<int64_t> integer(llvm::StringRef option);
  /// True if the option stands there without a value, or with =true; `fallback` where it is absent.
  bool flag(llvm::StringRef option, bool fallback = false);
  /// Numbers separated by colons, `1:0.5:2`, or the name of a text file of numbers. Empty where
  /// absent.
  std::vector<double> numbers(llvm::StringRef option);

  void addError(const std::string &message);
  std::string error() const;

  /// What was asked for, with the values that were given or else hold, as text: (option, value).
  const std::vector<std::pair<std::string, std::string>> &getSettings() const { return settings; }

  /// The files that were read for numbers().
  const std::vector<std::string> &getFiles() const { return files; }

private:
  struct Option {
    std::string name;
    std::optional<std::string> value;
    bool known = false;
  };
  Option *find(llvm::StringRef option);
  std::optional<double> givenNumber(llvm::StringRef option, double fallback, double low,
                                    double high);
  std::vector<double> givenNumbers(llvm::StringRef option);

  std::string what, text, name;
  std::optional<std::string> value;
  std::vector<Option> options;
  std::vector<std::string> asked, errors, files;
  std::vector<std::pair<std::string, std::string>> settings;
};

} // namespace accc

#endif
