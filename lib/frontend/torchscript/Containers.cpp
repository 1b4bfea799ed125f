// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists, tuples and dicts.
#include "frontend/common/ImportError.h"
#include "frontend/common/NodeBuilder.h"
#include "frontend/torchscript/Arithmetic.h"
#include "frontend/torchscript/Builtins.h"

#include <algorithm>

using namespace accc;
using namespace accc::torchscript;
using frontend::fail;
using llvm::Twine;
using Values = llvm::ArrayRef<IValue>;

// In a message.
static constexpr size_t kMostKeys = 10;

size_t accc::torchscript::positionIn(size_t length, const IValue &index) {
  auto *given = index.get<int64_t>();
  if (!given)
    fail("an index is " + kindOf(index));
  int64_t size = static_cast<int64_t>(length), at = *given < 0 ? *given + size : *given;
  if (at < 0 || at >= size)
    fail("the index " + Twine(*given) + " is outside a list of " + Twine(size) + " elements");
  return static_cast<size_t>(at);
}

/// The positions that Python's start:end:step names, of which each may be None or left out.
llvm::SmallVector<size_t> accc::torchscript::slicePositions(size_t length, Values slice) {
  int64_t size = static_cast<int64_t>(length);
  auto given = [&](size_t i) { return i < slice.size() && !slice[i].isNone(); };
  int64_t step = given(2) ? integer(slice[2]) : 1;
  if (step == 0)
    fail("slices in steps of 0");
  bool isForward = step > 0;
  step = std::clamp<int64_t>(step, -size - 1, size + 1);
  auto bound = [&](size_t i, int64_t otherwise) {
    if (!given(i))
      return otherwise;
    int64_t at = integer(slice[i]);
    return std::clamp<int64_t>(at < 0 ? at + size : at, isForward ? 0 : -1,
                               isForward ? size : size - 1);
  };
  int64_t at = bound(0, isForward ? 0 : size - 1), end = bound(1, isForward ? size : -1);
  llvm::SmallVector<size_t> positions;
  for (; isForward ? at < end : at > end; at += step)
    positions.push_back(static_cast<size_t>(at));
  return positions;
}

namespace {

// ---- what values hold ----

const List &list(const IValue &value) {
  if (const List *found = value.list())
    return *found;
  fail("expected a list, not " + kindOf(value));
}

[[noreturn]] void refuseState(const char *kind) {
  fail("changes a " + Twine(kind) + " that is an attribute of a module: the next step would not " +
       "see that; change a copy, or make tensors buffers");
}

/// The elements of a list that the program changes.
std::vector<IValue> &changed(const IValue &value) {
  if (list(value).isState)
    refuseState("list");
  return value.list()->elements;
}

const Dict &dict(const IValue &value) {
  if (const Dict *found = value.dict())
    return *found;
  fail("expected a dict, not " + kindOf(value));
}

using Item = std::pair<IValue, IValue>;

/// The items of a dict that the program changes.
std::vector<Item> &changedDict(Dict &dict) {
  if (dict.isState)
    refuseState("dict");
  return dict.items;
}

/// Where the item of a key is, or the number of items.
size_t findKey(const Dict &dict, const IValue &key) {
  auto has = [&](const auto &item) { return isEqual(item.first, key) == true; };
  return static_cast<size_t>(llvm::find_if(dict.items, has) - dict.items.begin());
}

// ---- lists ----

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

IValue append(Heap &heap, Values values) {
  heap.count(1);
  changed(values[0]).push_back(values[1]);
  return values[0];
}

IValue extend(Heap &heap, Values values) {
  std::vector<IValue> more = list(values[1]).elements;
  heap.count(more.size());
  std::vector<IValue> &elements = changed(values[0]);
  elements.insert(elements.end(), more.begin(), more.end());
  return IValue();
}

IValue insert(Heap &heap, Values values) {
  heap.count(1);
  std::vector<IValue> &elements = changed(values[0]);
  int64_t length = static_cast<int64_t>(elements.size()), at = integer(values[1]);
  at = std::clamp<int64_t>(at < 0 ? at + length : at, 0, length);
  elements.insert(elements.begin() + at, values[2]);
  return IValue();
}

IValue reverse(Heap &, Values values) {
  std::vector<IValue> &elements = changed(values[0]);
  std::reverse(elements.begin(), elements.end());
  return IValue();
}

IValue clear(Heap &, Values values) {
  if (Dict *dict = values[0].dict())
    changedDict(*dict).clear();
  else
    changed(values[0]).clear();
  return IValue();
}

/// Where an element equal to the second argument is first. Throws ImportError if it is nowhere.
size_t find(Values values) {
  const std::vector<IValue> &elements = list(values[0]).elements;
  for (auto [i, each] : llvm::enumerate(elements)) {
    std::optional<bool> same = isEqual(each, values[1]);
    if (!same)
      fail("looks for " + kindOf(values[1]) + " in a list of tensors");
    if (*same)
      return i;
  }
  fail("a list has no element '" + toText(values[1]) + "'");
}

IValue index(Heap &, Values values) { return static_cast<int64_t>(find(values)); }

IValue remove(Heap &, Values values) {
  std::vector<IValue> &elements = changed(values[0]);
  elements.erase(elements.begin() + static_cast<ptrdiff_t>(find(values)));
  return IValue();
}

IValue count(Heap &, Values values) {
  return static_cast<int64_t>(llvm::count_if(list(values[0]).elements, [&](const IValue &each) {
    return isEqual(each, values[1]) == true;
  }));
}

bool isLess(const IValue &a, const IValue &b) {
  auto *x = a.get<std::string>(), *y = b.get<std::string>();
  return x && y ? *x < *y : truth(*evaluateArithmetic("lt", {a, b}));
}

/// Into ascending order, or descending.
void sortElements(std::vector<IValue> &elements, bool isDescending) {
  auto areAll = [&](llvm::function_ref<bool(const IValue &)> is) {
    return llvm::all_of(elements, is);
  };
  bool areNumbers = areAll([](const IValue &x) { return isNumber(x) && isEqual(x, x) == true; });
  if (!areNumbers && !areAll([](const IValue &x) { return x.is<std::string>(); }))
    fail("sorts what are neither numbers nor strings");
  llvm::sort(elements, [&](const IValue &a, const IValue &b) {
    return isDescending ? isLess(b, a) : isLess(a, b);
  });
}

IValue sort(Heap &, Values values) {
  sortElements(changed(values[0]), values.size() > 1 && truth(values[1]));
  return IValue();
}

IValue sorted(Heap &heap, Values values) {
  IValue copied = toList(heap, values);
  sortElements(copied.list()->elements, /*isDescending=*/false);
  return copied;
}

IValue setItem(Heap &heap, Values values) {
  if (Dict *dict = values[0].dict()) {
    std::vector<Item> &items = changedDict(*dict);
    size_t at = findKey(*dict, values[1]);
    if (at < items.size()) {
      items[at].second = values[2];
      return IValue();
    }
    heap.count(1);
    items.push_back({values[1], values[2]});
    return IValue();
  }
  std::vector<IValue> &elements = changed(values[0]);
  elements[positionIn(elements.size(), values[1])] = values[2];
  return IValue();
}

IValue copy(Heap &heap, Values values) {
  if (Dict *dict = values[0].dict())
    return heap.dict(dict->items);
  return toList(heap, values);
}

/// list[start:end:step]
IValue slice(Heap &heap, Values values) {
  Values elements = *values[0].elements();
  std::vector<IValue> part;
  for (size_t at : slicePositions(elements.size(), values.drop_front()))
    part.push_back(elements[at]);
  return values[0].list() ? heap.list(std::move(part)) : heap.tuple(std::move(part));
}

/// list + list
IValue concatenate(Heap &heap, Values values) {
  std::optional<Values> a = values[0].elements(), b = values[1].elements();
  if (!a || !b)
    fail("adds " + kindOf(values[1]) + " to " + kindOf(values[0]));
  std::vector<IValue> elements(a->begin(), a->end());
  elements.insert(elements.end(), b->begin(), b->end());
  return values[0].list() ? heap.list(std::move(elements)) : heap.tuple(std::move(elements));
}

IValue addInPlace(Heap &heap, Values values) {
  extend(heap, values);
  return values[0];
}

/// list * n
IValue repeat(Heap &heap, Values values) {
  const std::vector<IValue> &elements = list(values[0]).elements;
  std::vector<IValue> repeated;
  for (int64_t i = 0; i < integer(values[1]) && !elements.empty(); ++i) {
    heap.count(elements.size());
    repeated.insert(repeated.end(), elements.begin(), elements.end());
  }
  return heap.list(std::move(repeated));
}

/// The shape of what is computed of tensors of two others, elementwise.
IValue inferSize(Heap &heap, Values values) {
  auto sizes = [](const IValue &value) {
    llvm::SmallVector<int64_t> each;
    for (const IValue &element : list(value).elements)
      each.push_back(integer(element));
    return each;
  };
  return heap.integers(frontend::broadcastShape(sizes(values[0]), sizes(values[1])));
}

// ---- dicts ----

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

[[noreturn]] void failAtKey(const Dict &dict, const IValue &key) {
  std::string known;
  for (const Item &item : llvm::ArrayRef(dict.items).take_front(kMostKeys))
    known += (known.empty() ? "" : ", ") + ("'" + toText(item.first) + "'");
  fail("a dict has no key '" + toText(key) + "'" + (known.empty() ? "" : "; it has " + known) +
       (dict.items.size() > kMostKeys ? ", ..." : ""));
}

IValue get(Heap &, Values values) {
  const Dict &from = dict(values[0]);
  if (size_t at = findKey(from, values[1]); at < from.items.size())
    return from.items[at].second;
  return values.size() > 2 ? values[2] : IValue();
}

IValue setDefault(Heap &heap, Values values) {
  size_t at = findKey(dict(values[0]), values[1]);
  if (at == dict(values[0]).items.size())
    setItem(heap, values);
  return dict(values[0]).items[at].second;
}

IValue update(Heap &heap, Values values) {
  for (const auto &[key, value] : std::vector(dict(values[1]).items))
    setItem(heap, {values[0], key, value});
  return IValue();
}

/// The last element of a list or that at an index, or the item of a key with what is given instead
/// of one that a dict does not have.
IValue pop(Heap &, Values values) {
  if (Dict *from = values[0].dict(); from && values.size() > 1) {
    size_t at = findKey(*from, values[1]);
    if (at == from->items.size() && values.size() == 2)
      failAtKey(*from, values[1]);
    if (at == from->items.size())
      return values[2];
    IValue result = from->items[at].second;
    changedDict(*from).erase(from->items.begin() + static_cast<ptrdiff_t>(at));
    return result;
  }
  std::vector<IValue> &elements = changed(values[0]);
  size_t at = positionIn(elements.size(), values.size() > 1 ? values[1] : IValue(int64_t(-1)));
  IValue result = elements[at];
  elements.erase(elements.begin() + static_cast<ptrdiff_t>(at));
  return result;
}

IValue erase(Heap &heap, Values values) {
  pop(heap, values);
  return IValue();
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
  if (Dict *from = values[0].dict()) {
    size_t at = findKey(*from, values[1]);
    if (at == from->items.size())
      failAtKey(*from, values[1]);
    return from->items[at].second;
  }
  Values elements = *values[0].elements();
  return elements[positionIn(elements.size(), values[1])];
}

IValue len(Heap &, Values values) {
  Dict *dict = values[0].dict();
  return static_cast<int64_t>(dict ? dict->items.size() : values[0].elements()->size());
}

IValue contains(Heap &, Values values) {
  if (Dict *dict = values[0].dict())
    return findKey(*dict, values[1]) < dict->items.size();
  return llvm::any_of(*values[0].elements(),
                      [&](const IValue &each) { return isEqual(each, values[1]) == true; });
}

template <bool all> IValue anyOrAll(Heap &, Values values) {
  std::optional<Values> elements = values[0].elements();
  if (!elements)
    fail("expected a list, not " + kindOf(values[0]));
  return all ? llvm::all_of(*elements, truth) : llvm::any_of(*elements, truth);
}

} // namespace

const llvm::StringMap<Builtin> &accc::torchscript::ofContainers() {
  static const llvm::StringMap<Builtin> all = {
      {"len", {len, 1, 1}},
      {"__contains__", {contains, 2, 2}},
      {"__getitem__", {getItem, 2, 2}},
      {"select", {getItem, 2, 2}},
      {"_set_item", {setItem, 3, 3}},
      {"Delete", {erase, 2, 2}},
      {"pop", {pop, 1, 3}},
      {"clear", {clear, 1, 1}},
      {"copy", {copy, 1, 1}},
      {"list", {toList, 1, 1}},
      {"Size", {toList, 1, 1}},
      {"dict", {toDict, 1, 1}},
      // Of lists and tuples.
      {"append", {append, 2, 2}},
      {"extend", {extend, 2, 2}},
      {"insert", {insert, 3, 3}},
      {"remove", {remove, 2, 2}},
      {"reverse", {reverse, 1, 1}},
      {"sort", {sort, 1, 2}},
      {"sorted", {sorted, 1, 1}},
      {"index", {index, 2, 2}},
      {"count", {count, 2, 2}},
      {"_infer_size", {inferSize, 2, 2}},
      {"slice", {slice, 1, 4}},
      {"add", {concatenate, 2, 2}},
      {"add_", {addInPlace, 2, 2}},
      {"mul", {repeat, 2, 2}},
      {"any", {anyOrAll<false>, 1, 1}},
      {"all", {anyOrAll<true>, 1, 1}},
      // Of dicts.
      {"keys", {toList, 1, 1}},
      {"values", {values, 1, 1}},
      {"items", {items, 1, 1}},
      {"get", {get, 2, 3}},
      {"setdefault", {setDefault, 3, 3}},
      {"update", {update, 2, 2}},
  };
  return all;
}
