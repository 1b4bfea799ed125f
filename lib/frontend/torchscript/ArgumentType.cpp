// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchscript/ArgumentType.h"
#include "frontend/common/ImportError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace accc;
using namespace accc::torchscript;
using llvm::StringRef;
using Kind = ArgumentType::Kind;

// Tuples in lists in dicts.
static constexpr int kDeepest = 20;

// ---- types ----

/// "__torch__.model.Point" of names with dots.
static std::string dotted(const Expression &expression) {
  if (expression.kind == Expression::Kind::Attribute)
    return dotted(expression.operands.front()) + "." + expression.text;
  return expression.text;
}

static ArgumentType typeOf(Code &code, const Expression &annotation, int depth) {
  if (depth > kDeepest)
    frontend::fail("the types of forward's arguments are nested too deeply");
  bool hasParts = annotation.kind == Expression::Kind::Subscript;
  std::string name = dotted(hasParts ? annotation.operands.front() : annotation);
  if (name == "Tensor")
    return {Kind::Tensor};
  ArgumentType result;
  auto add = [&](const std::string &part, const Expression &type) {
    result.parts.push_back({part, typeOf(code, type, depth + 1)});
  };
  auto inside =
      hasParts ? llvm::ArrayRef(annotation.operands).drop_front() : llvm::ArrayRef<Expression>();
  if (name == "Tuple") {
    result.kind = Kind::Tuple;
    for (auto [i, each] : llvm::enumerate(inside))
      if (each.kind != Expression::Kind::Tuple) // Tuple[()] is empty
        add(std::to_string(i), each);
  } else if ((name == "List" || name == "Optional") && inside.size() == 1) {
    result.kind = name == "List" ? Kind::List : Kind::Optional;
    add("", inside.front());
  } else if (name == "Dict" && inside.size() == 2) {
    std::string key = dotted(inside.front());
    if (key != "str" && key != "int")
      return {};
    result.kind = Kind::Dict;
    result.hasIntegerKeys = key == "int";
    add("", inside.back());
  } else if (const Class *type = code.findClass(name); type && type->base == "NamedTuple") {
    result.kind = Kind::Tuple;
    result.type = type;
    for (const Parameter &field : type->attributes)
      add(field.name, *field.type);
  }
  return result;
}

ArgumentType accc::torchscript::argumentType(Code &code, const Expression *annotation) {
  return annotation ? typeOf(code, *annotation, 0) : ArgumentType{Kind::Tensor};
}

bool accc::torchscript::holdsTensors(const ArgumentType &type) {
  return type.kind != Kind::Other &&
         llvm::all_of(type.parts, [](const auto &part) { return holdsTensors(part.second); });
}

// ---- names ----

std::string accc::torchscript::keyInName(StringRef key) {
  std::string name;
  for (char c : key)
    name += llvm::isAlnum(c) ? llvm::toLower(c) : '_';
  return name;
}

/// Where the first part of "_key_rest" may end, the shortest first, until one does.
static bool anyEnd(StringRef text, llvm::function_ref<bool(StringRef key, StringRef rest)> holds) {
  if (!text.consume_front("_"))
    return false;
  for (size_t end = 1; end <= text.size(); ++end)
    if ((end == text.size() || text[end] == '_') &&
        holds(text.take_front(end), text.drop_front(end)))
      return true;
  return false;
}

static bool isIndex(StringRef text) { return !text.empty() && llvm::all_of(text, llvm::isDigit); }

/// Whether `rest` is what may follow the name of a value of the type in the name of an input.
static bool fits(const ArgumentType &type, StringRef rest) {
  switch (type.kind) {
  case Kind::Tensor:
    return rest.empty();
  case Kind::Optional:
    return fits(type.part(), rest);
  case Kind::Tuple:
    return llvm::any_of(type.parts, [&](const auto &part) {
      StringRef behind = rest;
      return behind.consume_front("_" + keyInName(part.first)) && fits(part.second, behind);
    });
  case Kind::List:
    return anyEnd(rest, [&](StringRef key, StringRef behind) {
      return isIndex(key) && fits(type.part(), behind);
    });
  case Kind::Dict:
    return anyEnd(rest, [&](StringRef key, StringRef behind) {
      return (!type.hasIntegerKeys || isIndex(key)) && fits(type.part(), behind);
    });
  case Kind::Other:
    return false;
  }
  llvm_unreachable("all kinds of arguments");
}

bool accc::torchscript::isGiven(const ArgumentType &type, const std::string &name,
                                GivenNames given) {
  return llvm::any_of(given,
                      [&](StringRef each) { return each.consume_front(name) && fits(type, each); });
}

std::vector<std::string> accc::torchscript::givenKeys(const ArgumentType &type,
                                                      const std::string &name, GivenNames given) {
  std::vector<std::string> keys;
  for (StringRef each : given)
    if (each.consume_front(name))
      anyEnd(each, [&](StringRef key, StringRef rest) {
        bool isKey = (!type.hasIntegerKeys || isIndex(key)) && fits(type.part(), rest);
        if (isKey && !llvm::is_contained(keys, key))
          keys.push_back(key.str());
        return isKey;
      });
  return keys;
}

size_t accc::torchscript::givenLength(const ArgumentType &type, const std::string &name,
                                      GivenNames given) {
  size_t length = 0;
  while (isGiven(type.part(), name + "_" + std::to_string(length), given))
    ++length;
  return length;
}
