// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of a module, and the import as a whole.
#include "frontend/torchscript/Module.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchscript;

// What PyTorch 1.13 to 2.15 read and write.
static constexpr int64_t kOldestVersion = 3, kNewestVersion = 10;

ModuleImporter::ModuleImporter(const Archive &archive, Storages &storages,
                               const std::set<std::string> &written, const ImportOptions &options,
                               MLIRContext &context)
    : Interpreter(archive, options, context), archive(archive),
      reader(context, archive, storages, code, heap), written(written) {}

void ModuleImporter::readVersion() {
  std::string record = archive.has(".data/version") ? ".data/version" : "version";
  std::string text = archive.has(record) ? archive.text(record, 64) : "";
  if (StringRef(text).trim().getAsInteger(10, fileVersion) || fileVersion < kOldestVersion ||
      fileVersion > kNewestVersion)
    fail("the file has version '" + StringRef(text).trim() + "' of the format, of which " +
         Twine(kOldestVersion) + " to " + Twine(kNewestVersion) +
         " are supported: save it with another version of PyTorch");
}

// ---- state ----

static std::string placeOf(const StoredTensor &stored, const TensorName &name) {
  return stored.weight.type.getNumElements() > 0 ? stored.place : name.path;
}

/// A tensor of the file, which lies as it did there. Complex ones are given as pairs.
static aten::MutableTensor storedTensor(const StoredTensor &stored, Value value,
                                        const std::string &name) {
  aten::Layout layout(stored.weight.type.getShape(), stored.strides, stored.offset);
  return aten::MutableTensor(value, name,
                             isComplex(stored.weight.type) ? layout.asPairs() : layout);
}

aten::MutableTensor ModuleImporter::addTensor(const StoredTensor &stored, const TensorName &name) {
  using enum TensorName::Kind;
  std::string place = placeOf(stored, name);
  auto ofElementType = [&](const aten::MutableTensor &pairs) {
    return caller.ofElementType(location(name.path), pairs, stored.weight.type, name.path);
  };
  const TensorName &first = names.at(place);
  bool isState = name.kind != Plain;
  if (isState && name.kind != first.kind)
    fail("'" + name.path + "' and '" + first.path +
         "' share their memory, of which one is a buffer and the other a parameter: this is not "
         "supported");
  if (isState && name.path != first.path)
    aliases[first.path].push_back(name.path);
  if (auto known = byPlace.find(place); known != byPlace.end())
    return ofElementType(state[known->second].tensor);
  // No gradient flows to integers, whatever the module calls them.
  bool isBuffer =
      first.kind != Parameter || !isa<FloatType, ComplexType>(stored.weight.type.getElementType());
  bool isTrained = importOptions.training && !isBuffer && stored.requiresGrad;
  Weight weight = pairsOf(stored.weight);
  Value value = addVariable({.name = first.path,
                             .isBuffer = isBuffer,
                             .isFrozen = !isBuffer && !stored.requiresGrad,
                             .weight = weight,
                             .isKnown = !isTrained && !written.contains(first.path)});
  // A tensor that the module does not save, and a buffer of integers, is a constant unless the
  // program writes into it: shapes and indices may depend on it.
  bool isFloat = isa<FloatType>(weight.type.getElementType());
  if (isBuffer && !written.contains(first.path) && (first.kind == Plain || !isFloat))
    value =
        opBuilder.create<prim::ConstantOp>(location(first.path), weight.type, attributeOf(weight));
  byPlace[place] = state.size();
  state.push_back({storedTensor(stored, value, first.path), value, first.path});
  if (isBuffer || !stored.requiresGrad)
    state.back().tensor.markConstant();
  else
    state.back().tensor.markLeaf();
  return ofElementType(state.back().tensor);
}

Object *ModuleImporter::readModule() {
  // Of several names of a tensor, that of a parameter or buffer counts, wherever it comes.
  reader.read("data", "", [&](const StoredTensor &stored, const TensorName &name) {
    auto [known, isNew] = names.insert({placeOf(stored, name), name});
    if (!isNew && known->second.kind == TensorName::Kind::Plain)
      known->second = name;
    return aten::MutableTensor();
  });
  IValue root = reader.read("data", "", [&](const StoredTensor &stored, const TensorName &name) {
    return addTensor(stored, name);
  });
  if (!root.object())
    fail("the file holds " + kindOf(root) + " instead of a module");
  return root.object();
}

/// Whether a constant stands for a number: a trace holds those of arithmetic as tensors without
/// dimensions, of the types that Python's numbers have.
static bool isNumberOfPython(RankedTensorType type) {
  Type element = type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  return type.getRank() == 0 && (element.isF64() || element.isInteger(64) || element.isInteger(1));
}

void ModuleImporter::readConstants() {
  if (!archive.has("constants.pkl"))
    return;
  // A traced program's attributes that are no buffers are among them, and it may write into them.
  IValue all = reader.read("constants", "CONSTANTS",
                           [&](const StoredTensor &stored, const TensorName &name) {
                             names.insert({placeOf(stored, name), name});
                             aten::MutableTensor tensor = addTensor(stored, name);
                             if (isNumberOfPython(stored.weight.type))
                               tensor.markNumber();
                             return tensor;
                           });
  if (std::optional<ArrayRef<IValue>> elements = all.elements())
    constants.assign(elements->begin(), elements->end());
}

void ModuleImporter::bindBuffers() {
  std::map<std::string, aten::MutableTensor> assigned;
  std::set<std::string> seen; // by the next step
  for (const auto &[object, name] : assignedAttributes())
    if (auto *tensor = object->attributes[name].tensor()) {
      std::string path = object->path->empty() ? name : *object->path + "." + name;
      assigned[path] = *tensor;
      if (isRead(object, name))
        seen.insert(path);
    }
  for (State &each : state) {
    auto found = assigned.find(each.path);
    bool isAssigned = found != assigned.end();
    Value now =
        caller.readPairs(opBuilder.getUnknownLoc(), isAssigned ? found->second : each.tensor);
    if (isAssigned)
      assigned.erase(found);
    if (now == each.initial)
      continue;
    Variable *variable = findVariable(each.initial);
    if (!variable)
      falseConstants.insert(each.path);
    else if (isAssigned && !variable->isBuffer && !variable->isFrozen)
      problems.push_back({.message = "the program sets its parameter '" + each.path +
                                     "' to another tensor, which the optimizer would not train: "
                                     "write into it (copy_()) under torch.no_grad()"});
    else if (now.getType() != each.initial.getType())
      problems.push_back({.message = "the program changes the shape or the element type of its "
                                     "buffer '" +
                                     each.path + "'"});
    else if (variable->isKnown && variable->isAskedFor) // as if it never changed
      falseConstants.insert(each.path);
    else
      bindWrite(each.initial, now);
  }
  for (const auto &[path, tensor] : assigned)
    if (seen.contains(path))
      problems.push_back({.message = "the program sets '" + path +
                                     "', which is no tensor in the file: the next step would not "
                                     "see that; make it a buffer"});
}

// ---- the function ----

ImportResult ModuleImporter::run() {
  readVersion();
  Object *root = readModule();
  readConstants();
  auto forward = root->type->methods.find("forward");
  if (forward == root->type->methods.end()) // of several, the first
    forward = root->type->methods.find("forward__0");
  if (forward == root->type->methods.end())
    fail("the module '" + root->type->name + "' has no method forward");
  ImportResult result;
  std::vector<ForwardOutput> outputs;
  Arguments arguments = importInputs(forward->second);
  try {
    IValue returned = call(forward->second, root, std::move(arguments), "");
    outputs = importOutputs(returned, result);
    if (problems.empty())
      bindBuffers();
  } catch (const Stop &) {
    // its problem is known
  } catch (const ImportAbort &error) {
    problems.push_back({.message = error.message});
  }
  if (falseConstants.empty())
    finish(outputs, result);
  reportFindings(result);
  return result;
}
