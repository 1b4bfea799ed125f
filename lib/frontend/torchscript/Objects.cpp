// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchscript/Objects.h"
#include "frontend/common/ImportError.h"
#include "frontend/common/Storage.h"
#include "frontend/common/TensorTypes.h"
#include "frontend/torchscript/Types.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchscript;
using frontend::fail;
using llvm::Twine;
using Kind = pickle::Value::Kind;

static constexpr uint64_t kLargestPickle = uint64_t(1) << 26;
static constexpr uint64_t kLargestStorage = uint64_t(1) << 40;
// Modules under several names are walked once for each.
static constexpr size_t kMostAttributes = size_t(1) << 20;

struct ObjectReader::Walk {
  std::string folder;
  MakeTensor make;
  size_t attributes = 0;
  /// What was made of a value that the pickle refers to from several places.
  llvm::DenseMap<const pickle::Value *, IValue> known =
      llvm::DenseMap<const pickle::Value *, IValue>();
};

// ---- tensors ----

static bool isTensor(const pickle::Value &value) {
  return value.is(Kind::Call) && value.type->isGlobal("torch._utils._rebuild_tensor_v2");
}

static SmallVector<int64_t> integers(const pickle::Value &list, const char *what) {
  SmallVector<int64_t> result;
  for (const pickle::Value *each : list.asSequence(what))
    result.push_back(each->asInteger(what));
  return result;
}

/// ("storage", class, key, device, count) of _rebuild_tensor_v2(storage, offset, size, stride,
/// ...).
static ArrayRef<const pickle::Value *> storageOf(const pickle::Value &rebuild) {
  if (rebuild.elements.size() < 5 || !rebuild.elements[0]->is(Kind::Persistent))
    fail("a tensor is stored in a way that is not supported");
  ArrayRef<const pickle::Value *> id =
      rebuild.elements[0]->elements.front()->asSequence("a storage");
  if (id.size() != 5 || !id[0]->is(Kind::String) || id[0]->text != "storage" ||
      !id[1]->is(Kind::Global))
    fail("a tensor has a storage that is not supported");
  return id;
}

RankedTensorType ObjectReader::typeOf(const pickle::Value &rebuild) {
  return frontend::tensorType(integers(*rebuild.elements[2], "the shape of a tensor"),
                              typeOfStorage(context, storageOf(rebuild)[1]->text));
}

const frontend::Archive::Record &Storages::read(const std::string &record) {
  auto found = records.find(record);
  if (found == records.end())
    found = records.emplace(record, archive.read(record, kLargestStorage)).first;
  return found->second;
}

StoredTensor ObjectReader::tensor(const pickle::Value &rebuild, const std::string &folder,
                                  const std::string &name) {
  ArrayRef<const pickle::Value *> id = storageOf(rebuild);
  RankedTensorType type = typeOf(rebuild);
  int64_t offset = rebuild.elements[1]->asInteger("the offset of a tensor");
  SmallVector<int64_t> strides = integers(*rebuild.elements[3], "the strides of a tensor");
  std::string record = folder + "/" + id[2]->asString("the name of a storage");
  const frontend::Archive::Record &storage = storages.read(record);
  // What the pickle says of a storage must be what is there.
  int64_t count = id[4]->asInteger("the size of a storage");
  uint64_t width = std::max(1u, type.getElementTypeBitWidth() / 8);
  if (count < 0 || static_cast<uint64_t>(count) > kLargestStorage ||
      static_cast<uint64_t>(count) * width != storage.bytes.size())
    fail("the storage of '" + name + "' should have " + Twine(count) + " elements, but has " +
         Twine(storage.bytes.size()) + " bytes");
  StoredTensor result;
  result.requiresGrad = rebuild.elements[4]->asBoolean("requires_grad of a tensor");
  result.place =
      record + frontend::show(type.getShape()) + frontend::show(strides) + std::to_string(offset);
  result.weight = frontend::stridedWeight(type, strides, offset, storage, name);
  return result;
}

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
  if (isTensor(value))
    return walk.make(tensor(value, walk.folder, name.path), name);
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

std::optional<std::vector<RankedTensorType>> ObjectReader::readExamples() {
  std::string record = "traced_inputs.pkl";
  if (!archive.has(record))
    return std::nullopt;
  pickle::Document document(archive.read(record, kLargestPickle).bytes, record);
  // {"forward": [example, ...]}, each container with the text of its type.
  auto untagged = [](const pickle::Value *value) {
    while (value->is(Kind::Call) && value->type->isGlobal("torch.jit._pickle.restore_type_tag") &&
           !value->elements.empty())
      value = value->elements[0];
    return value;
  };
  const pickle::Value *methods = untagged(&document.root());
  for (size_t i = 0; methods->is(Kind::Dict) && i + 1 < methods->elements.size(); i += 2) {
    const pickle::Value *examples = untagged(methods->elements[i + 1]);
    if (methods->elements[i]->text != "forward" || !examples->is(Kind::List))
      continue;
    std::vector<RankedTensorType> types;
    for (const pickle::Value *example : examples->elements)
      types.push_back(isTensor(*example) ? typeOf(*example) : RankedTensorType());
    return types;
  }
  return std::nullopt;
}
