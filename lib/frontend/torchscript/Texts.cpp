// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strings.
#include "frontend/common/ImportError.h"
#include "frontend/torchscript/Arithmetic.h"
#include "frontend/torchscript/Builtins.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace accc;
using namespace accc::torchscript;
using frontend::fail;
using llvm::StringRef;
using llvm::Twine;
using Values = llvm::ArrayRef<IValue>;

// Strings are for messages, and to choose between variants of a model.
static constexpr size_t kLongestText = size_t(1) << 16;
static constexpr StringRef kWhitespace = " \n\t\f\v\r";

namespace {

const std::string &text(const IValue &value) {
  if (auto *found = value.get<std::string>())
    return *found;
  fail("expected a string, not " + kindOf(value));
}

IValue bounded(std::string value) {
  if (value.size() > kLongestText)
    fail("a string grows beyond " + Twine(kLongestText) + " characters");
  return value;
}

// ---- formatted ----

/// "a {} b" with the other arguments in the braces.
IValue format(Heap &, Values values) {
  const std::string &pattern = text(values[0]);
  std::string result;
  size_t next = 1;
  for (size_t i = 0; i < pattern.size() && result.size() < kLongestText; ++i)
    if (pattern.compare(i, 2, "{}") == 0 && next < values.size()) {
      result += toText(values[next++]);
      ++i;
    } else {
      result += pattern[i];
    }
  return result;
}

/// A number as "%5.2f" writes it.
std::string formatReal(StringRef specification, const IValue &value) {
  StringRef digits = specification.drop_front().drop_back();
  bool isSmall = digits.size() <= 5 &&
                 llvm::all_of(digits, [](char c) { return llvm::isDigit(c) || c == '.'; });
  if (!isSmall || !isNumber(value))
    fail("formats " + kindOf(value) + " as '" + specification + "', which is not supported");
  auto *real = value.get<double>();
  std::string result;
  llvm::raw_string_ostream(result) << llvm::format(
      specification.str().c_str(), real ? *real : static_cast<double>(*value.get<int64_t>()));
  return result;
}

/// "a %s b %d" with the other arguments, which may be one tuple.
IValue percentFormat(Heap &, Values values) {
  StringRef rest = text(values[0]);
  Values given = values.drop_front();
  if (given.size() == 1 && given.front().tuple())
    given = given.front().tuple()->elements;
  std::string result;
  while (!rest.empty() && result.size() < kLongestText) {
    size_t end = rest[0] == '%' ? rest.find_first_of("sdirfge%", 1) : 0;
    if (rest[0] != '%' || end == StringRef::npos) {
      result += rest[0];
      rest = rest.drop_front();
      continue;
    }
    StringRef specification = rest.take_front(end + 1);
    rest = rest.drop_front(end + 1);
    if (specification == "%%") {
      result += '%';
      continue;
    }
    if (given.empty())
      fail("a string is formatted with too few values");
    bool isReal = StringRef("fge").contains(specification.back());
    result += isReal ? formatReal(specification, given.front()) : toText(given.front());
    given = given.drop_front();
  }
  return result;
}

// ---- parts ----

IValue len(Heap &, Values values) { return static_cast<int64_t>(text(values[0]).size()); }

IValue getItem(Heap &, Values values) {
  return std::string(1, text(values[0])[positionIn(text(values[0]).size(), values[1])]);
}

IValue slice(Heap &, Values values) {
  std::string part;
  for (size_t at : slicePositions(text(values[0]).size(), values.drop_front()))
    part += text(values[0])[at];
  return part;
}

IValue contains(Heap &, Values values) {
  return text(values[0]).find(text(values[1])) != std::string::npos;
}

IValue find(Heap &, Values values) {
  size_t at = text(values[0]).find(text(values[1]));
  return at == std::string::npos ? int64_t(-1) : static_cast<int64_t>(at);
}

IValue startsWith(Heap &, Values values) {
  return StringRef(text(values[0])).starts_with(text(values[1]));
}
IValue endsWith(Heap &, Values values) {
  return StringRef(text(values[0])).ends_with(text(values[1]));
}

IValue strip(Heap &, Values values) {
  return StringRef(text(values[0])).trim(values.size() > 1 ? text(values[1]) : kWhitespace).str();
}

IValue split(Heap &heap, Values values) {
  std::vector<IValue> parts;
  StringRef rest = text(values[0]);
  bool hasSeparator = values.size() > 1 && !values[1].isNone();
  if (hasSeparator && text(values[1]).empty())
    fail("splits a string at an empty one");
  llvm::SmallVector<StringRef> found;
  if (hasSeparator)
    rest.split(found, text(values[1]));
  else
    llvm::SplitString(rest, found, kWhitespace);
  for (StringRef part : found)
    parts.push_back(part.str());
  return heap.list(std::move(parts));
}

// ---- made of others ----

IValue add(Heap &, Values values) { return bounded(text(values[0]) + text(values[1])); }

IValue join(Heap &, Values values) {
  std::optional<Values> parts = values[1].elements();
  if (!parts)
    fail("joins " + kindOf(values[1]));
  std::string result;
  for (auto [i, part] : llvm::enumerate(*parts)) {
    result += (i > 0 ? text(values[0]) : "") + text(part);
    if (result.size() > kLongestText)
      break;
  }
  return bounded(std::move(result));
}

IValue replace(Heap &, Values values) {
  std::string result;
  StringRef rest = text(values[0]);
  if (text(values[1]).empty())
    fail("replaces an empty string");
  while (rest.contains(text(values[1])) && result.size() <= kLongestText) {
    auto [before, after] = rest.split(text(values[1]));
    result += before.str() + text(values[2]);
    rest = after;
  }
  return bounded(result + rest.str());
}

IValue lower(Heap &, Values values) { return StringRef(text(values[0])).lower(); }
IValue upper(Heap &, Values values) { return StringRef(text(values[0])).upper(); }

// ---- order ----

IValue less(Heap &, Values values) { return text(values[0]) < text(values[1]); }
IValue lessOrEqual(Heap &, Values values) { return text(values[0]) <= text(values[1]); }
IValue greater(Heap &, Values values) { return text(values[0]) > text(values[1]); }
IValue greaterOrEqual(Heap &, Values values) { return text(values[0]) >= text(values[1]); }

} // namespace

const llvm::StringMap<Builtin> &accc::torchscript::ofTexts() {
  static const llvm::StringMap<Builtin> all = {
      {"format", {format, 1, 100}},   {"percentFormat", {percentFormat, 1, 100}},
      {"len", {len, 1, 1}},           {"__getitem__", {getItem, 2, 2}},
      {"slice", {slice, 1, 4}},       {"__contains__", {contains, 2, 2}},
      {"find", {find, 2, 2}},         {"startswith", {startsWith, 2, 2}},
      {"endswith", {endsWith, 2, 2}}, {"strip", {strip, 1, 2}},
      {"split", {split, 1, 2}},       {"add", {add, 2, 2}},
      {"join", {join, 2, 2}},         {"replace", {replace, 3, 3}},
      {"lower", {lower, 1, 1}},       {"upper", {upper, 1, 1}},
      {"lt", {less, 2, 2}},           {"le", {lessOrEqual, 2, 2}},
      {"gt", {greater, 2, 2}},        {"ge", {greaterOrEqual, 2, 2}},
  };
  return all;
}
