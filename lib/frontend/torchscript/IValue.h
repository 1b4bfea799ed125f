// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a name of a TorchScript program stands for while it is imported.
#ifndef ACCC_FRONTEND_TORCHSCRIPT_IVALUE_H
#define ACCC_FRONTEND_TORCHSCRIPT_IVALUE_H

#include "frontend/aten/Call.h"
#include "frontend/torchscript/Ast.h"

#include <deque>
#include <map>

namespace accc::torchscript {

struct IValue;

/// What an operator would have given that could not be imported: its problem is known.
struct Broken {};
/// A device, a layout, a generator: says where a tensor is, and nothing about its values.
struct Place {
  std::string device = {}; ///< "cpu", "cuda:0"; empty for what is none
  bool operator==(const Place &) const = default;
};

struct List {
  std::vector<IValue> elements;
  /// An attribute of a module in the file: what the program changes of it, the next step would not
  /// see.
  bool isState = false;
};
struct Tuple {
  std::vector<IValue> elements;
  /// Of a NamedTuple; else empty.
  std::vector<std::string> names = {};
};
struct Dict {
  /// In the order of insertion.
  std::vector<std::pair<IValue, IValue>> items;
  bool isState = false;
};
struct Object {
  const Class *type = nullptr;
  /// The path of a module from the root, "layers.0"; nothing for other objects.
  std::optional<std::string> path;
  std::map<std::string, IValue> attributes;
};

/// Lists, dicts and objects are shared, as in Python; they belong to a heap.
struct IValue {
  std::variant<aten::NoValue, aten::MutableTensor, aten::Selection, int64_t, double, bool,
               std::string, Place, List *, const Tuple *, Dict *, Object *, const Function *,
               const Class *, Broken>
      content;

  IValue() = default;
  template <typename T>
    requires std::is_constructible_v<decltype(content), T>
  IValue(T value) : content(std::move(value)) {}

  template <typename T> const T *get() const { return std::get_if<T>(&content); }
  template <typename T> bool is() const { return std::holds_alternative<T>(content); }
  bool isNone() const { return is<aten::NoValue>(); }

  // Null for other values.
  List *list() const { return pointer<List *>(); }
  const Tuple *tuple() const { return pointer<const Tuple *>(); }
  Dict *dict() const { return pointer<Dict *>(); }
  Object *object() const { return pointer<Object *>(); }
  const aten::MutableTensor *tensor() const { return get<aten::MutableTensor>(); }
  /// The elements of a list or a tuple.
  std::optional<llvm::ArrayRef<IValue>> elements() const;

private:
  template <typename T> T pointer() const {
    const T *found = get<T>();
    return found ? *found : nullptr;
  }
};

/// What the program makes, until the import ends: nothing here counts references, for a program may
/// put a list into itself.
class Heap {
public:
  IValue list(std::vector<IValue> elements);
  IValue integers(llvm::ArrayRef<int64_t> values);
  IValue tuple(std::vector<IValue> elements, std::vector<std::string> names = {});
  IValue namedTuple(const Class &type, std::vector<IValue> elements);
  IValue dict(std::vector<std::pair<IValue, IValue>> items = {});
  Object *object(const Class *type);
  /// The member of an enumeration: one object each, with the attributes `name` and `value`. Throws
  /// ImportError if there is none.
  IValue member(const Class &type, llvm::StringRef name);
  IValue memberOf(const Class &type, const IValue &value);
  /// Throws ImportError once a program has made more elements than any model needs.
  void count(size_t elements);

private:
  std::deque<List> lists;
  std::deque<Tuple> tuples;
  std::deque<Dict> dicts;
  std::deque<Object> objects;
  std::map<std::pair<const Class *, std::string>, Object *> members;
  size_t total = 0;
};

/// Python's ==, for what is known at compile time; nothing for tensors and what holds them.
std::optional<bool> isEqual(const IValue &a, const IValue &b);
/// Python's `is`.
bool isSame(const IValue &a, const IValue &b);
/// As Python's str().
std::string toText(const IValue &value);
/// "a tensor", "an integer", ...
std::string kindOf(const IValue &value);

} // namespace accc::torchscript

#endif
