// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchscript/Builtins.h"
#include "frontend/common/ImportError.h"
#include "frontend/common/TorchTypes.h"
#include "frontend/torchscript/Arithmetic.h"

#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::torchscript;
using frontend::fail;
using llvm::Twine;
using Values = llvm::ArrayRef<IValue>;

// Texts are for messages.
static constexpr size_t kLongestText = size_t(1) << 16;

size_t accc::torchscript::positionIn(size_t length, const IValue &index) {
  auto *given = index.get<int64_t>();
  if (!given)
    fail("an index is " + kindOf(index));
  int64_t size = static_cast<int64_t>(length), at = *given < 0 ? *given + size : *given;
  if (at < 0 || at >= size)
    fail("the index " + Twine(*given) + " is outside a list of " + Twine(size) + " elements");
  return static_cast<size_t>(at);
}

namespace {

// ---- tensors, of which only the type is asked ----

RankedTensorType typeOf(const IValue &value) {
  if (!value.tensor())
    fail("expected a tensor, not " + kindOf(value));
  return cast<RankedTensorType>(value.tensor()->type());
}

IValue size(Heap &heap, Values values) {
  RankedTensorType type = typeOf(values[0]);
  if (values.size() == 1)
    return heap.integers(type.getShape());
  int64_t dim = integer(values[1]), rank = type.getRank();
  if (dim < -rank || dim >= rank)
    fail("asks for the size of dimension " + Twine(dim) + " of a tensor of " + Twine(rank));
  return type.getDimSize(static_cast<unsigned>(dim < 0 ? dim + rank : dim));
}

IValue len(Heap &, Values values) {
  const IValue &value = values[0];
  if (std::optional<Values> elements = value.elements())
    return static_cast<int64_t>(elements->size());
  if (auto *text = value.get<std::string>())
    return static_cast<int64_t>(text->size());
  if (Dict *dict = value.dict())
    return static_cast<int64_t>(dict->items.size());
  RankedTensorType type = typeOf(value);
  if (type.getRank() == 0)
    fail("a tensor without dimensions has no length");
  return type.getDimSize(0);
}

// ---- comparisons ----

IValue equal(Heap &, Values values) {
  if (std::optional<bool> known = isEqual(values[0], values[1]))
    return *known;
  fail("compares lists of tensors");
}
IValue notEqual(Heap &heap, Values values) { return !*equal(heap, values).get<bool>(); }
IValue is(Heap &, Values values) { return isSame(values[0], values[1]); }
IValue isNot(Heap &, Values values) { return !isSame(values[0], values[1]); }

IValue logicalNot(Heap &, Values values) { return !truth(values[0]); }

IValue contains(Heap &, Values values) {
  if (Dict *dict = values[0].dict())
    return llvm::any_of(dict->items,
                        [&](const auto &item) { return isEqual(item.first, values[1]) == true; });
  if (auto *text = values[0].get<std::string>(); text && values[1].is<std::string>())
    return text->find(*values[1].get<std::string>()) != std::string::npos;
  if (std::optional<Values> elements = values[0].elements())
    return llvm::any_of(*elements,
                        [&](const IValue &each) { return isEqual(each, values[1]) == true; });
  fail(kindOf(values[0]) + " contains nothing");
}

template <bool all> IValue anyOrAll(Heap &, Values values) {
  std::optional<Values> elements = values[0].elements();
  if (!elements)
    fail("expected a list, not " + kindOf(values[0]));
  return all ? llvm::all_of(*elements, truth) : llvm::any_of(*elements, truth);
}

// ---- lists ----

List &list(const IValue &value) {
  if (List *found = value.list())
    return *found;
  fail("expected a list, not " + kindOf(value));
}

IValue append(Heap &heap, Values values) {
  heap.count(1);
  list(values[0]).elements.push_back(values[1]);
  return values[0];
}

IValue extend(Heap &heap, Values values) {
  std::vector<IValue> more = list(values[1]).elements;
  heap.count(more.size());
  std::vector<IValue> &elements = list(values[0]).elements;
  elements.insert(elements.end(), more.begin(), more.end());
  return IValue();
}

IValue insert(Heap &heap, Values values) {
  heap.count(1);
  std::vector<IValue> &elements = list(values[0]).elements;
  int64_t length = static_cast<int64_t>(elements.size()), at = integer(values[1]);
  at = std::clamp<int64_t>(at < 0 ? at + length : at, 0, length);
  elements.insert(elements.begin() + at, values[2]);
  return IValue();
}

IValue pop(Heap &, Values values) {
  std::vector<IValue> &elements = list(values[0]).elements;
  size_t at = positionIn(elements.size(), values.size() > 1 ? values[1] : IValue(int64_t(-1)));
  IValue result = elements[at];
  elements.erase(elements.begin() + static_cast<ptrdiff_t>(at));
  return result;
}

IValue reverse(Heap &, Values values) {
  std::vector<IValue> &elements = list(values[0]).elements;
  std::reverse(elements.begin(), elements.end());
  return IValue();
}

IValue clear(Heap &, Values values) {
  list(values[0]).elements.clear();
  return IValue();
}

IValue setItem(Heap &heap, Values values) {
  if (Dict *dict = values[0].dict()) {
    for (auto &[key, value] : dict->items)
      if (isEqual(key, values[1]) == true) {
        value = values[2];
        return IValue();
      }
    heap.count(1);
    dict->items.push_back({values[1], values[2]});
    return IValue();
  }
  std::vector<IValue> &elements = list(values[0]).elements;
  elements[positionIn(elements.size(), values[1])] = values[2];
  return IValue();
}

IValue toList(Heap &heap, Values values) {
  if (Dict *dict = values[0].dict()) {
    std::vector<IValue> keys;
    for (const auto &[key, value] : dict->items)
      keys.push_back(key);
    return heap.list(std::move(keys));
  }
  std::optional<Values> elements = values[0].elements();
  if (!elements)
    fail("makes a list of " + kindOf(values[0]));
  return heap.list({elements->begin(), elements->end()});
}

IValue copy(Heap &heap, Values values) {
  if (Dict *dict = values[0].dict())
    return heap.dict(dict->items);
  return toList(heap, values);
}

/// list[start:end:step]
IValue slice(Heap &heap, Values values) {
  std::optional<Values> elements = values[0].elements();
  int64_t length = static_cast<int64_t>(elements->size());
  auto bound = [&](size_t i, int64_t otherwise) {
    if (values.size() <= i || values[i].isNone())
      return otherwise;
    int64_t at = integer(values[i]);
    return std::clamp<int64_t>(at < 0 ? at + length : at, 0, length);
  };
  int64_t step = values.size() > 3 && !values[3].isNone() ? integer(values[3]) : 1;
  if (step < 1)
    fail("slices a list in steps of " + Twine(step));
  std::vector<IValue> part;
  for (int64_t i = bound(1, 0), end = bound(2, length); i < end; i += std::min(step, length))
    part.push_back((*elements)[static_cast<size_t>(i)]);
  return values[0].list() ? heap.list(std::move(part)) : heap.tuple(std::move(part));
}

IValue range(Heap &heap, Values values) {
  int64_t begin = values.size() > 1 ? integer(values[0]) : 0;
  int64_t end = integer(values[values.size() > 1 ? 1 : 0]);
  int64_t step = values.size() > 2 ? integer(values[2]) : 1, count = 0;
  if (step == 0)
    fail("a range has steps of 0");
  // In double precision, so that nothing overflows.
  double steps = std::ceil((static_cast<double>(end) - static_cast<double>(begin)) /
                           static_cast<double>(step));
  if (steps > 0x1p20)
    fail("a range has " + Twine(std::to_string(steps)) + " elements");
  count = std::max<int64_t>(static_cast<int64_t>(steps), 0);
  std::vector<IValue> elements;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(begin + i * step);
  return heap.list(std::move(elements));
}

// ---- dicts ----

Dict &dict(const IValue &value) {
  if (Dict *found = value.dict())
    return *found;
  fail("expected a dict, not " + kindOf(value));
}

IValue values(Heap &heap, Values values) {
  std::vector<IValue> result;
  for (const auto &item : dict(values[0]).items)
    result.push_back(item.second);
  return heap.list(std::move(result));
}

IValue items(Heap &heap, Values values) {
  std::vector<IValue> result;
  for (const auto &[key, value] : dict(values[0]).items)
    result.push_back(heap.tuple({key, value}));
  return heap.list(std::move(result));
}

IValue get(Heap &, Values values) {
  for (const auto &[key, value] : dict(values[0]).items)
    if (isEqual(key, values[1]) == true)
      return value;
  return values.size() > 2 ? values[2] : IValue();
}

/// Of a list of pairs.
IValue toDict(Heap &heap, Values values) {
  IValue result = heap.dict();
  for (const IValue &pair : values.empty() ? Values() : Values(list(values[0]).elements)) {
    std::optional<Values> item = pair.elements();
    if (!item || item->size() != 2)
      fail("makes a dict of what are no pairs");
    setItem(heap, {result, (*item)[0], (*item)[1]});
  }
  return result;
}

/// Of a list, a tuple or a dict.
IValue getItem(Heap &, Values values) {
  if (Dict *dict = values[0].dict()) {
    for (const auto &[key, value] : dict->items)
      if (isEqual(key, values[1]) == true)
        return value;
    fail("a dict has no key '" + toText(values[1]) + "'");
  }
  std::optional<Values> elements = values[0].elements();
  if (!elements)
    fail("cannot take an element of " + kindOf(values[0]));
  return (*elements)[positionIn(elements->size(), values[1])];
}

// ---- texts ----

/// "a {} b" with the other arguments in the braces.
IValue format(Heap &, Values values) {
  auto *pattern = values[0].get<std::string>();
  if (!pattern)
    fail("formats " + kindOf(values[0]));
  std::string text;
  size_t next = 1;
  for (size_t i = 0; i < pattern->size() && text.size() < kLongestText; ++i)
    if (pattern->compare(i, 2, "{}") == 0 && next < values.size()) {
      text += toText(values[next++]);
      ++i;
    } else {
      text += (*pattern)[i];
    }
  return text;
}

IValue toString(Heap &, Values values) { return toText(values[0]); }

// ---- numbers ----

IValue toInteger(Heap &, Values values) {
  if (auto *real = values[0].get<double>()) {
    if (!(std::abs(*real) < 0x1p62))
      fail("makes an integer of " + Twine(std::to_string(*real)));
    return static_cast<int64_t>(*real);
  }
  if (auto *boolean = values[0].get<bool>())
    return static_cast<int64_t>(*boolean);
  return integer(values[0]);
}

IValue toReal(Heap &heap, Values values) {
  if (auto *real = values[0].get<double>())
    return *real;
  if (auto *text = values[0].get<std::string>()) { // float("inf")
    double real;
    if (!llvm::StringRef(*text).getAsDouble(real))
      return real;
  }
  return static_cast<double>(*toInteger(heap, values).get<int64_t>());
}

IValue toBoolean(Heap &, Values values) { return truth(values[0]); }

/// list + list, list * n, and the same of texts.
std::optional<IValue> evaluateConcatenation(Heap &heap, llvm::StringRef name, Values values) {
  if (values.size() != 2)
    return std::nullopt;
  auto *a = values[0].get<std::string>(), *b = values[1].get<std::string>();
  if (name == "add" && a && b) {
    if (a->size() + b->size() > kLongestText)
      fail("a text grows beyond " + Twine(kLongestText) + " characters");
    return *a + *b;
  }
  if (!values[0].list())
    return std::nullopt;
  if (name == "add_" && values[1].list()) {
    extend(heap, values);
    return values[0];
  }
  std::vector<IValue> elements = list(values[0]).elements;
  if (name == "add" && values[1].list()) {
    std::vector<IValue> &more = list(values[1]).elements;
    heap.count(more.size());
    elements.insert(elements.end(), more.begin(), more.end());
    return heap.list(std::move(elements));
  }
  if (name != "mul" || !values[1].is<int64_t>())
    return std::nullopt;
  std::vector<IValue> repeated;
  for (int64_t i = 0; i < integer(values[1]) && !elements.empty(); ++i) {
    heap.count(elements.size());
    repeated.insert(repeated.end(), elements.begin(), elements.end());
  }
  return heap.list(std::move(repeated));
}

/// A function of what it is given, and how many arguments it takes.
struct Builtin {
  IValue (*function)(Heap &heap, Values values);
  size_t least, most;
};

IValue nothing(Heap &, Values) { return IValue(); }
IValue first(Heap &, Values values) { return values[0]; }
IValue place(Heap &, Values) { return Place(); }
template <bool value> IValue constant(Heap &, Values) { return value; }

const llvm::StringMap<Builtin> &ofTensors() {
  static const llvm::StringMap<Builtin> all = {
      {"size", {size, 1, 2}},
      {"shape", {size, 1, 1}},
      {"len", {len, 1, 1}},
      {"dim", {[](Heap &, Values v) -> IValue { return typeOf(v[0]).getRank(); }, 1, 1}},
      {"ndimension", {[](Heap &, Values v) -> IValue { return typeOf(v[0]).getRank(); }, 1, 1}},
      {"numel", {[](Heap &, Values v) -> IValue { return typeOf(v[0]).getNumElements(); }, 1, 1}},
      {"dtype",
       {[](Heap &, Values v) -> IValue { return frontend::codeOf(typeOf(v[0]).getElementType()); },
        1, 1}},
      {"is_floating_point",
       {[](Heap &, Values v) -> IValue { return isa<FloatType>(typeOf(v[0]).getElementType()); }, 1,
        1}},
      {"device", {place, 1, 1}},
      {"layout", {place, 1, 1}},
      {"is_complex", {constant<false>, 1, 1}},
      {"is_cuda", {constant<false>, 1, 1}},
      {"is_cpu", {constant<true>, 1, 1}},
      {"is_nested", {constant<false>, 1, 1}},
      {"is_sparse", {constant<false>, 1, 1}},
      {"is_quantized", {constant<false>, 1, 1}},
      {"is_mkldnn", {constant<false>, 1, 1}},
      {"is_meta", {constant<false>, 1, 1}},
      {"unchecked_unwrap_optional", {first, 1, 1}},
      {"_unwrap_optional", {first, 1, 1}},
  };
  return all;
}

const llvm::StringMap<Builtin> &ofContainers() {
  static const llvm::StringMap<Builtin> all = {
      {"len", {len, 1, 1}},
      {"append", {append, 2, 2}},
      {"extend", {extend, 2, 2}},
      {"insert", {insert, 3, 3}},
      {"pop", {pop, 1, 2}},
      {"reverse", {reverse, 1, 1}},
      {"clear", {clear, 1, 1}},
      {"_set_item", {setItem, 3, 3}},
      {"list", {toList, 1, 1}},
      {"copy", {copy, 1, 1}},
      {"keys", {toList, 1, 1}},
      {"values", {values, 1, 1}},
      {"items", {items, 1, 1}},
      {"get", {get, 2, 3}},
      {"any", {anyOrAll<false>, 1, 1}},
      {"all", {anyOrAll<true>, 1, 1}},
      {"select", {getItem, 2, 2}},
      {"__getitem__", {getItem, 2, 2}},
  };
  return all;
}

/// Of any values.
const llvm::StringMap<Builtin> &others() {
  static const llvm::StringMap<Builtin> all = {
      {"__is__", {is, 2, 2}},
      {"__isnot__", {isNot, 2, 2}},
      {"__contains__", {contains, 2, 2}},
      {"__not__", {logicalNot, 1, 1}},
      {"format", {format, 1, 100}},
      {"str", {toString, 1, 1}},
      {"range", {range, 1, 3}},
      {"dict", {toDict, 0, 1}},
      {"int", {toInteger, 1, 1}},
      {"float", {toReal, 1, 1}},
      {"bool", {toBoolean, 1, 1}},
      {"warn", {nothing, 0, 100}},
      {"print", {nothing, 0, 100}},
      {"Print", {nothing, 0, 100}},
      {"device", {place, 1, 2}},
      {"wait", {first, 1, 1}},
      {"unchecked_unwrap_optional", {first, 1, 1}},
      {"_unwrap_optional", {first, 1, 1}},
      {"is_autocast_enabled", {constant<false>, 0, 0}},
      {"is_autocast_cpu_enabled", {constant<false>, 0, 0}},
      {"is_scripting", {constant<true>, 0, 0}},
      {"is_tracing", {constant<false>, 0, 0}},
  };
  return all;
}

} // namespace

std::optional<IValue> accc::torchscript::evaluateBuiltin(Heap &heap, llvm::StringRef name,
                                                         Values values) {
  auto lookUp = [&](const llvm::StringMap<Builtin> &table) -> const Builtin * {
    auto found = table.find(name);
    bool fits = found != table.end() && values.size() >= found->second.least &&
                values.size() <= found->second.most;
    return fits ? &found->second : nullptr;
  };
  bool hasTensor = llvm::any_of(values, [](const IValue &value) { return value.tensor(); });
  bool isContainer = !values.empty() && (values[0].elements() || values[0].dict());
  const Builtin *builtin = nullptr;
  if (!values.empty() && values[0].tensor())
    builtin = lookUp(ofTensors());
  if (!builtin && isContainer)
    builtin = lookUp(ofContainers());
  if (!builtin)
    builtin = lookUp(others());
  if (builtin)
    return builtin->function(heap, values);
  if (hasTensor || values.empty())
    return std::nullopt;
  if (name == "slice" && values[0].elements())
    return slice(heap, values);
  if (values.size() == 2 && (name == "eq" || name == "ne"))
    return name == "eq" ? equal(heap, values) : notEqual(heap, values);
  if (values[0].is<std::string>() && name == "len")
    return len(heap, values);
  if (llvm::all_of(values, isNumber))
    return evaluateArithmetic(name, values);
  if (std::optional<IValue> result = evaluateReduction(heap, name, values))
    return result;
  return evaluateConcatenation(heap, name, values);
}
