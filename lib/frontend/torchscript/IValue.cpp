// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchscript/IValue.h"
#include "frontend/common/ImportError.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace accc;
using namespace accc::torchscript;

// Far beyond what models compute with at compile time.
static constexpr size_t kMostElements = size_t(1) << 20;

// ---- containers ----

std::optional<llvm::ArrayRef<IValue>> IValue::elements() const {
  if (const List *all = list())
    return llvm::ArrayRef<IValue>(all->elements);
  if (const Tuple *all = tuple())
    return llvm::ArrayRef<IValue>(all->elements);
  return std::nullopt;
}

void Heap::count(size_t elements) {
  total += elements;
  if (total > kMostElements)
    throw frontend::ImportAbort{"the program makes lists of more than " +
                                std::to_string(kMostElements) + " elements in all"};
}

IValue Heap::list(std::vector<IValue> elements) {
  count(elements.size() + 1);
  return &lists.emplace_back(List{std::move(elements)});
}

IValue Heap::integers(llvm::ArrayRef<int64_t> values) {
  return list(std::vector<IValue>(values.begin(), values.end()));
}

IValue Heap::tuple(std::vector<IValue> elements, std::vector<std::string> names) {
  count(elements.size() + 1);
  return static_cast<const Tuple *>(
      &tuples.emplace_back(Tuple{std::move(elements), std::move(names)}));
}

IValue Heap::namedTuple(const Class &type, std::vector<IValue> elements) {
  std::vector<std::string> names;
  for (const Parameter &field : type.attributes)
    names.push_back(field.name);
  return tuple(std::move(elements), std::move(names));
}

IValue Heap::dict(std::vector<std::pair<IValue, IValue>> items) {
  count(items.size() + 1);
  return &dicts.emplace_back(Dict{std::move(items)});
}

Object *Heap::object(const Class *type) {
  count(1);
  Object &made = objects.emplace_back();
  made.type = type;
  return &made;
}

/// The value of a text or a number in the code.
static IValue literal(const Expression &expression) {
  switch (expression.kind) {
  case Expression::Kind::String:
    return expression.text;
  case Expression::Kind::Integer:
    return expression.integer;
  case Expression::Kind::Real:
    return expression.real;
  default:
    frontend::fail("a member of an enumeration is neither a number nor a text");
  }
}

IValue Heap::member(const Class &type, llvm::StringRef name) {
  auto constant = type.constants.find(name.str());
  if (type.base != "Enum" || constant == type.constants.end())
    frontend::fail("the class '" + type.name + "' is no enumeration with a member '" + name + "'");
  auto [known, isNew] = members.insert({{&type, name.str()}, nullptr});
  if (isNew) {
    known->second = object(&type);
    known->second->attributes = {{"name", name.str()}, {"value", literal(constant->second)}};
  }
  return known->second;
}

IValue Heap::memberOf(const Class &type, const IValue &value) {
  for (const auto &[name, constant] : type.constants)
    if (type.base == "Enum" && isEqual(literal(constant), value) == true)
      return member(type, name);
  frontend::fail("the class '" + type.name + "' is no enumeration with the value '" +
                 toText(value) + "'");
}

// ---- comparisons ----

/// A number or a truth value.
static std::optional<double> asNumber(const IValue &value) {
  if (auto *integer = value.get<int64_t>())
    return static_cast<double>(*integer);
  if (auto *real = value.get<double>())
    return *real;
  if (auto *boolean = value.get<bool>())
    return *boolean;
  return std::nullopt;
}

/// Fails after more than `budget` comparisons: lists in lists may be reached in very many ways.
static std::optional<bool> isEqual(const IValue &a, const IValue &b, int &budget) {
  if (--budget < 0)
    frontend::fail("compares lists of too many elements");
  auto hasData = [](const IValue &value) {
    return value.is<Broken>() || value.is<aten::Selection>() || value.tensor();
  };
  if (hasData(a) || hasData(b))
    return std::nullopt;
  if (auto x = a.get<int64_t>(), y = b.get<int64_t>(); x && y)
    return *x == *y;
  if (auto x = asNumber(a), y = asNumber(b); x && y)
    return *x == *y;
  if (auto x = a.get<std::string>(), y = b.get<std::string>(); x && y)
    return *x == *y;
  if (a.content.index() != b.content.index())
    return false;
  if (auto x = a.elements(), y = b.elements(); x && y) {
    if (x->size() != y->size())
      return false;
    for (size_t i = 0; i < x->size(); ++i)
      if (std::optional<bool> each = isEqual((*x)[i], (*y)[i], budget); each != true)
        return each;
    return true;
  }
  return isSame(a, b);
}

std::optional<bool> accc::torchscript::isEqual(const IValue &a, const IValue &b) {
  int budget = 20000; // also how deep it may go
  return ::isEqual(a, b, budget);
}

bool accc::torchscript::isSame(const IValue &a, const IValue &b) {
  if (a.content.index() != b.content.index())
    return false;
  return std::visit(
      [&](const auto &x) {
        using T = std::decay_t<decltype(x)>;
        const T &y = *b.get<T>();
        if constexpr (std::is_same_v<T, aten::NoValue>)
          return true;
        else if constexpr (std::is_same_v<T, Broken>)
          return false;
        else if constexpr (std::is_same_v<T, aten::MutableTensor>)
          return x.isSame(y);
        else if constexpr (std::is_same_v<T, aten::Selection>)
          return x.elements.isSame(y.elements);
        else
          return x == y;
      },
      a.content);
}

// ---- text ----

// For messages.
static constexpr size_t kLongestText = 1000;

/// As PyTorch writes it: a whole number with a dot, others with all digits.
static std::string printReal(double real) {
  if (std::abs(real) < 1e10 && std::trunc(real) == real)
    return (std::signbit(real) ? "-" : "") + std::to_string(static_cast<int64_t>(std::abs(real))) +
           ".";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.17g", real);
  return text;
}

static void print(const IValue &value, std::string &text) {
  auto sequence = [&](llvm::ArrayRef<IValue> values, const char *brackets) {
    text += brackets[0];
    for (auto [i, each] : llvm::enumerate(values)) {
      text += i > 0 ? ", " : "";
      if (text.size() > kLongestText)
        break;
      print(each, text);
    }
    text += brackets[1];
  };
  if (auto *string = value.get<std::string>())
    text += *string;
  else if (auto *integer = value.get<int64_t>())
    text += std::to_string(*integer);
  else if (auto *real = value.get<double>())
    text += printReal(*real);
  else if (auto *boolean = value.get<bool>())
    text += *boolean ? "True" : "False";
  else if (value.isNone())
    text += "None";
  else if (auto *place = value.get<Place>(); place && !place->device.empty())
    text += place->device;
  else if (const List *list = value.list())
    sequence(list->elements, "[]");
  else if (const Tuple *tuple = value.tuple())
    sequence(tuple->elements, "()");
  else
    text += "<" + kindOf(value) + ">";
}

std::string accc::torchscript::toText(const IValue &value) {
  std::string text;
  print(value, text);
  return text;
}

std::string accc::torchscript::kindOf(const IValue &value) {
  static constexpr const char *kinds[] = {
      "None",       "a tensor", "the elements that a mask selects",
      "an integer", "a float",  "a bool",
      "a string",   "a device", "a list",
      "a tuple",    "a dict",   "an object",
      "a function", "a class",  "unknown"};
  static_assert(std::variant_size_v<decltype(value.content)> == std::size(kinds));
  return kinds[value.content.index()];
}
