// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/Spec.h"

#include "support/Suggest.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <charconv>
#include <cmath>
#include <limits>

using namespace accc;
using llvm::StringRef;

static std::string decimal(double number) {
  std::string result;
  llvm::raw_string_ostream(result) << llvm::format("%g", number);
  return result;
}

static std::string quoted(StringRef text) { return ("'" + text + "'").str(); }

Spec::Spec(StringRef what, StringRef text) : what(what), text(text) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (auto [i, part] : llvm::enumerate(parts)) {
    auto [key, rest] = part.split('=');
    std::optional<std::string> value;
    if (part.contains('='))
      value = rest.str();
    if (i == 0) {
      name = key.str();
      this->value = value;
      continue;
    }
    if (key.empty())
      addError("an option is missing its name");
    else if (find(key))
      addError("option " + quoted(key) + " is given twice");
    else
      options.push_back({key.str(), value});
  }
}

Spec::Option *Spec::find(StringRef option) {
  for (Option &candidate : options)
    if (candidate.name == option)
      return &candidate;
  return nullptr;
}

static std::optional<double> parseNumber(StringRef text) {
  double result;
  if (text.empty() || text.getAsDouble(result, /*AllowInexact=*/true) || !std::isfinite(result))
    return std::nullopt;
  return result;
}

static bool fitsFloat(double number) {
  return std::abs(number) <= std::numeric_limits<float>::max();
}

/// The shortest text that reads as the number.
static std::string exact(double number) {
  char text[32];
  return std::string(text, std::to_chars(text, std::end(text), number).ptr);
}

/// [low, high] in words: "between 0 and 1", "greater than 0", "at least 0 and less than 1". A bound
/// next to a number that `decimal` shows excludes that number; one at the end of doubles is none.
static std::string rangeText(double low, double high) {
  using Limits = std::numeric_limits<double>;
  bool isPositive = low == Limits::min(), hasLow = low >= Limits::lowest();
  bool hasHigh = high < Limits::max();
  double shown = hasHigh ? *parseNumber(decimal(high)) : high;
  bool isBelow = shown > high && shown - high <= 2 * Limits::epsilon() * shown;
  if (hasLow && hasHigh && !isPositive && !isBelow)
    return "between " + decimal(low) + " and " + decimal(high);
  std::string text = isPositive ? "greater than 0" : hasLow ? "at least " + decimal(low) : "";
  if (!hasHigh)
    return text;
  return text + (text.empty() ? "" : " and ") + (isBelow ? "less than " : "at most ") +
         decimal(high);
}

double Spec::number(StringRef option, double fallback, double low, double high) {
  double result = givenNumber(option, fallback, low, high).value_or(fallback);
  settings.emplace_back(option.str(), exact(result));
  return result;
}

std::optional<double> Spec::number(StringRef option, double low, double high) {
  std::optional<double> result = givenNumber(option, low, low, high);
  if (result)
    settings.emplace_back(option.str(), exact(*result));
  return result;
}

std::optional<double> Spec::givenNumber(StringRef option, double fallback, double low,
                                        double high) {
  asked.push_back(option.str() + "=NUMBER");
  Option *found = find(option);
  if (!found)
    return std::nullopt;
  found->known = true;
  std::optional<double> result = parseNumber(found->value.value_or(""));
  if (!result) {
    addError(quoted(option) + " needs a number, as in " + option.str() + "=" + decimal(fallback));
    return std::nullopt;
  }
  if (!fitsFloat(*result)) {
    addError(quoted(option) + " must fit into a float, and is " + *found->value);
    return std::nullopt;
  }
  if (*result < low || *result > high) {
    addError(quoted(option) + " must be " + rangeText(low, high) + ", and is " + *found->value);
    return std::nullopt;
  }
  return result;
}

std::optional<int64_t> Spec::integer(StringRef option) {
  asked.push_back(option.str() + "=INTEGER");
  Option *found = find(option);
  if (!found)
    return std::nullopt;
  found->known = true;
  int64_t result;
  if (StringRef(found->value.value_or("")).getAsInteger(10, result)) {
    addError(quoted(option) + " needs an integer");
    return std::nullopt;
  }
  settings.emplace_back(option.str(), std::to_string(result));
  return result;
}

bool Spec::flag(StringRef option, bool fallback) {
  asked.push_back(option.str());
  Option *found = find(option);
  StringRef given = !found         ? (fallback ? "true" : "false")
                    : found->value ? StringRef(*found->value)
                                   : "true";
  if (found)
    found->known = true;
  if (given != "true" && given != "false")
    addError(quoted(option) + " is true or false, not " + quoted(given));
  settings.emplace_back(option.str(), given.str());
  return given == "true";
}

std::vector<double> Spec::numbers(StringRef option) {
  std::vector<double> result = givenNumbers(option);
  std::string text;
  for (double number : result)
    text += (text.empty() ? "" : ":") + exact(number);
  if (result.size() > 16) // enough to tell them from others
    text = std::to_string(result.size()) + " numbers, " + llvm::utohexstr(llvm::xxh3_64bits(text));
  settings.emplace_back(option.str(), text);
  return result;
}

std::vector<double> Spec::givenNumbers(StringRef option) {
  asked.push_back(option.str() + "=NUMBER:NUMBER:...|FILE");
  Option *found = find(option);
  if (!found)
    return {};
  found->known = true;
  std::string list = found->value.value_or("");
  std::unique_ptr<llvm::MemoryBuffer> file;
  llvm::SmallVector<StringRef> words;
  if (StringRef(list).find_first_not_of("0123456789.:+-eE") == StringRef::npos) {
    StringRef(list).split(words, ':');
  } else if (auto buffer = llvm::MemoryBuffer::getFile(list, /*IsText=*/true)) {
    file = std::move(*buffer);
    files.push_back(list);
    llvm::SplitString(file->getBuffer(), words, " \t\r\n,:");
  } else {
    addError("the file " + quoted(list) + " of " + quoted(option) +
             " cannot be read: " + buffer.getError().message());
    return {};
  }
  std::vector<double> result;
  for (StringRef word : words) {
    std::optional<double> number = parseNumber(word);
    if (!number) {
      addError(quoted(option) + " needs numbers, and " + quoted(word) + " is none");
      return {};
    }
    if (!fitsFloat(*number)) {
      addError(quoted(option) + " must fit into floats, and " + quoted(word) + " does not");
      return {};
    }
    result.push_back(*number);
  }
  if (result.empty())
    addError("the file " + quoted(list) + " of " + quoted(option) + " holds no numbers");
  return result;
}

void Spec::addError(const std::string &message) { errors.push_back(message); }

std::string Spec::error() const {
  std::vector<std::string> all = errors, names;
  for (const std::string &option : asked)
    names.push_back(StringRef(option).split('=').first.str());
  for (const Option &option : options)
    if (!option.known)
      all.push_back("there is no option " + quoted(option.name) + "; " + name + " knows " +
                    (asked.empty() ? "none" : llvm::join(asked, ", ")) +
                    didYouMean(option.name, names));
  if (all.empty())
    return "";
  return what + " " + text + ": " + llvm::join(all, "; ");
}
