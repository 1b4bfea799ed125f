// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchscript/Objects.h"
#include "frontend/common/ImportError.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchscript;
using frontend::fail;
using llvm::Twine;
using Kind = pickle::Value::Kind;

static constexpr uint64_t kLargestPickle = uint64_t(1) << 26;
// Modules under several names are walked once for each.
static constexpr size_t kMostAttributes = size_t(1) << 20;
// In lists and dicts of example inputs.
static constexpr int64_t kMostExamples = 10000;

struct ObjectReader::Walk {
  std::string folder;
  MakeTensor make;
  size_t attributes = 0;
  /// What was made of a value that the pickle refers to from several places.
  llvm::DenseMap<const pickle::Value *, IValue> known =
      llvm::DenseMap<const pickle::Value *, IValue>();
};

// ---- values ----

IValue ObjectReader::convert(const pickle::Value &value, const TensorName &name, Walk &walk) {
  switch (value.kind) {
  case Kind::None:
    return aten::NoValue();
  case Kind::Boolean:
    return value.boolean;
  case Kind::Integer:
    return value.integer;
  case Kind::Real:
    return value.real;
  case Kind::String:
    return value.text;
  case Kind::Object:
    return convertObject(value, name, walk);
  default:
    break;
  }
  // Under each of its names.
  if (pickle::isTensor(value))
    return walk.make(pickle::readTensor(context, value, storages, walk.folder, name.path), name);
  if (auto known = walk.known.find(&value); known != walk.known.end())
    return known->second;
  auto inside = [&](const Twine &part) { return TensorName{(name.path + "." + part).str()}; };
  IValue result;
  if (value.is(Kind::Call)) {
    result = convertCall(value, name, walk);
  } else if (value.is(Kind::List) || value.is(Kind::Tuple)) {
    std::vector<IValue> elements;
    for (auto [i, each] : llvm::enumerate(value.elements))
      elements.push_back(convert(*each, inside(Twine(i)), walk));
    result =
        value.is(Kind::List) ? heap.list(std::move(elements)) : heap.tuple(std::move(elements));
  } else if (value.is(Kind::Dict)) {
    std::vector<std::pair<IValue, IValue>> items;
    for (size_t i = 0; i + 1 < value.elements.size(); i += 2) {
      IValue key = convert(*value.elements[i], name, walk);
      items.push_back({key, convert(*value.elements[i + 1], inside(toText(key)), walk)});
    }
    result = heap.dict(std::move(items));
  } else {
    fail("'" + name.path + "' holds what is not supported");
  }
  if (List *list = result.list())
    list->isState = true;
  if (Dict *dict = result.dict())
    dict->isState = true;
  walk.known[&value] = result;
  return result;
}

IValue ObjectReader::convertCall(const pickle::Value &value, const TensorName &name, Walk &walk) {
  const pickle::Value &function = *value.type;
  ArrayRef<const pickle::Value *> arguments = value.elements;
  if (function.isGlobal("torch._utils._rebuild_parameter") && !arguments.empty())
    return convert(*arguments[0], name, walk);
  // Lists of one type, and values with the text of their type.
  if (function.module == "torch.jit._pickle" && !arguments.empty())
    return convert(*arguments[0], name, walk);
  const Class *type = code.findClass(function.name());
  if (type && arguments.size() == 1)
    return heap.memberOf(*type, convert(*arguments[0], name, walk));
  fail("'" + name.path + "' is made by '" + function.name() + "', which is not supported");
}

/// Under a second path, too: tied tensors have all their names.
IValue ObjectReader::convertObject(const pickle::Value &value, const TensorName &name, Walk &walk) {
  std::string className = value.type->name();
  const Class *type = code.findClass(className);
  if (!type)
    fail("the archive has no code of the class '" + className + "'");
  auto known = walk.known.find(&value);
  bool isNew = known == walk.known.end();
  Object *object = isNew ? heap.object(type) : known->second.object();
  if (isNew) {
    object->path = name.path;
    walk.known[&value] = object;
  }
  ArrayRef<const pickle::Value *> state;
  if (!value.elements.empty() && value.elements[0]->is(Kind::Dict))
    state = value.elements[0]->elements;
  if (walk.attributes += state.size(); walk.attributes > kMostAttributes)
    fail("the modules have too many attributes");
  for (size_t i = 0; i + 1 < state.size(); i += 2) {
    const std::string &key = state[i]->asString("the name of an attribute");
    TensorName attribute{name.path.empty() ? key : name.path + "." + key};
    if (llvm::is_contained(type->parameters, key))
      attribute.kind = TensorName::Kind::Parameter;
    else if (llvm::is_contained(type->buffers, key))
      attribute.kind = TensorName::Kind::Buffer;
    IValue converted = convert(*state[i + 1], attribute, walk);
    if (isNew)
      object->attributes[key] = converted;
  }
  return object;
}

IValue ObjectReader::read(llvm::StringRef pickle, const std::string &name, MakeTensor make) {
  std::string record = (pickle + ".pkl").str();
  pickle::Document document(archive.read(record, kLargestPickle).bytes, record);
  Walk walk{pickle.str(), make};
  return convert(document.root(), {name}, walk);
}

// ---- examples ----

/// What a container is, without the text of its type.
static const pickle::Value *untagged(const pickle::Value *value) {
  while (value->is(Kind::Call) && value->type->module == "torch.jit._pickle" &&
         !value->elements.empty())
    value = value->elements[0];
  return value;
}

Example ObjectReader::convertExample(const pickle::Value &tagged, int64_t &budget) {
  if (--budget < 0)
    fail("the example inputs hold too many values");
  const pickle::Value &value = *untagged(&tagged);
  if (pickle::isTensor(value))
    return {pickle::tensorTypeOf(context, value)};
  Example example{{}};
  if (value.is(Kind::List) || value.is(Kind::Tuple))
    for (auto [i, each] : llvm::enumerate(value.elements))
      example.parts.push_back({std::to_string(i), convertExample(*each, budget)});
  for (size_t i = 0; value.is(Kind::Dict) && i + 1 < value.elements.size(); i += 2) {
    const pickle::Value &key = *value.elements[i];
    std::string name = key.is(Kind::Integer) ? std::to_string(key.integer) : key.text;
    example.parts.push_back({name, convertExample(*value.elements[i + 1], budget)});
  }
  return example;
}

std::vector<Example> ObjectReader::readExamples() {
  std::string record = "traced_inputs.pkl";
  if (!archive.has(record))
    return {};
  pickle::Document document(archive.read(record, kLargestPickle).bytes, record);
  // {"forward": [example, ...]}
  const pickle::Value *methods = untagged(&document.root());
  int64_t budget = kMostExamples;
  for (size_t i = 0; methods->is(Kind::Dict) && i + 1 < methods->elements.size(); i += 2) {
    const pickle::Value *examples = untagged(methods->elements[i + 1]);
    if (methods->elements[i]->text != "forward" || !examples->is(Kind::List))
      continue;
    std::vector<Example> result;
    for (const pickle::Value *example : examples->elements)
      result.push_back(convertExample(*example, budget));
    return result;
  }
  return {};
}
