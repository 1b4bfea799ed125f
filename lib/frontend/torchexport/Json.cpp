// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchexport/Json.h"

#include <limits>

using namespace accc;
using namespace accc::torchexport;
using frontend::fail;
using llvm::Twine;

/// With quotes around what is no JSON: infinities and NaN, as Python writes them and PyTorch up
/// to 2.6 leaves them.
static std::string withQuotedWords(llvm::StringRef text) {
  std::string quoted;
  bool isInString = false;
  while (!text.empty()) {
    llvm::StringRef token = text.take_front(isInString && text.front() == '\\' ? 2 : 1);
    bool isWord = false;
    if (token == "\"")
      isInString = !isInString;
    for (llvm::StringRef word : {"-Infinity", "Infinity", "NaN"})
      if (!isInString && text.starts_with(word)) {
        token = word;
        isWord = true;
      }
    quoted.append(isWord ? "\"" : "").append(token.data(), token.size()).append(isWord ? "\"" : "");
    text = text.drop_front(token.size());
  }
  return quoted;
}

nlohmann::json Json::parse(const std::string &text, llvm::StringRef name) {
  constexpr int deepest = 200; // graphs nest in graphs; no model's do so often
  bool isTooDeep = false;
  auto limit = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json &) {
    isTooDeep |= depth > deepest;
    return !isTooDeep;
  };
  nlohmann::json document = nlohmann::json::parse(text, limit, /*allow_exceptions=*/false);
  if (document.is_discarded() && !isTooDeep)
    document = nlohmann::json::parse(withQuotedWords(text), limit, /*allow_exceptions=*/false);
  if (isTooDeep)
    fail("'" + name + "' is nested too deeply");
  if (document.is_discarded())
    fail("'" + name + "' is not JSON");
  return document;
}

void Json::wrong(const Twine &what) const { fail("'" + key + "' must be " + what); }

Json Json::at(const char *name) const {
  if (!value->is_object())
    wrong("an object");
  auto member = value->find(name);
  if (member == value->end())
    fail("'" + key + "' has no '" + name + "'");
  return Json(*member, name);
}

std::optional<Json> Json::find(const char *name) const {
  if (!has(name) || value->at(name).is_null())
    return std::nullopt;
  return at(name);
}

size_t Json::size() const {
  if (!value->is_array())
    wrong("a list");
  return value->size();
}

Json Json::at(size_t index) const {
  if (index >= size())
    wrong("a list of more than " + Twine(index) + " elements");
  return Json((*value)[index], key);
}

std::string Json::tag() const {
  if (!value->is_object() || value->size() != 1)
    wrong("an object with one member");
  return value->begin().key();
}

int64_t Json::integer() const {
  if (!value->is_number_integer())
    wrong("an integer");
  return value->get<int64_t>();
}

double Json::real() const {
  if (value->is_string()) {
    std::string word = string();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (word == "Infinity" || word == "-Infinity")
      return word.front() == '-' ? -infinity : infinity;
    if (word == "NaN")
      return std::numeric_limits<double>::quiet_NaN();
  }
  if (!value->is_number())
    wrong("a number");
  return value->get<double>();
}

bool Json::boolean() const {
  if (!value->is_boolean())
    wrong("true or false");
  return value->get<bool>();
}

std::string Json::string() const {
  if (!value->is_string())
    wrong("a string");
  return value->get<std::string>();
}

std::vector<std::string> Json::keys() const {
  if (!value->is_object())
    wrong("an object");
  std::vector<std::string> names;
  for (const auto &member : value->items())
    names.push_back(member.key());
  return names;
}

static void addTexts(const nlohmann::json &value, std::set<std::string> &texts) {
  if (value.is_string())
    texts.insert(value.get<std::string>());
  else if (value.is_structured())
    for (const nlohmann::json &each : value)
      addTexts(each, texts);
}

std::set<std::string> Json::texts() const {
  std::set<std::string> found;
  addTexts(*value, found);
  return found;
}
