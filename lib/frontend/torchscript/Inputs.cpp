// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arguments of a module's forward, and what it returns.
#include "frontend/common/TorchTypes.h"
#include "frontend/torchscript/Module.h"
#include "support/Suggest.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchscript;

// ---- inputs ----

SmallVector<int64_t> ModuleImporter::inputShape(const std::string &name, const InputType &type) {
  SmallVector<int64_t> shape;
  SmallVector<std::string> open;
  for (auto [i, dimension] : llvm::enumerate(type.dimensions)) {
    std::string position = name + "." + std::to_string(i);
    int64_t size;
    if (!StringRef(dimension).getAsInteger(10, size)) {
      if (auto given = givenDimension(position); given && *given != size)
        fail("-D " + position + "=" + Twine(*given) + ", but --input fixes it at " + Twine(size));
      shape.push_back(size);
    } else if (std::optional<int64_t> given = openDimension(dimension, position)) {
      shape.push_back(*given);
    } else {
      open.push_back(dimension);
      shape.push_back(importOptions.openDimension.value_or(ShapedType::kDynamic));
    }
  }
  if (!open.empty())
    leftOpen(name, open);
  return shape;
}

/// A trace is the same for other sizes than those of its examples, as far as it did not build them
/// in: they can be given.
static SmallVector<int64_t> exampleShape(ForwardBuilder &function, const std::string &name,
                                         RankedTensorType example) {
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(example.getShape())) {
    std::string position = name + "." + std::to_string(i);
    shape.push_back(function.openDimension(position, position).value_or(size));
  }
  return shape;
}

IValue ModuleImporter::importTensor(const InputName &input, const Example *example) {
  const std::string &name = input.text;
  if (!inputNames.insert(name).second)
    fail("forward has two inputs that are called '" + name + "': rename one of its arguments");
  auto given = importOptions.inputTypes.find(input.given);
  bool isGiven = given != importOptions.inputTypes.end(), hasExample = example && example->tensor;
  if (!isGiven && !hasExample)
    fail("the file does not say what the input '" + name + "' is: give its element type and " +
         "shape with --input, as in --input " + name + "=float32[8,16]");
  usedInputTypes.insert(input.given);
  // Whoever calls the compiled step gives contiguous ones.
  auto contiguous = [&](Value value) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    return aten::MutableTensor(value, name, aten::Layout::contiguous(shape));
  };
  if (auto known = importOptions.inputs.find(name); known != importOptions.inputs.end())
    return contiguous(
        opBuilder.create<prim::ConstantOp>(location(name), known->second.getType(), known->second));
  auto makeInput = [&](ArrayRef<int64_t> shape, Type element) {
    auto type = pairsOf(RankedTensorType::get(shape, element));
    Value pairs = addInput(type.getShape(), type.getElementType(), name);
    return caller.ofElementType(location(name), contiguous(pairs), element, name);
  };
  if (!isGiven)
    return makeInput(exampleShape(*this, name, example->tensor), example->tensor.getElementType());
  Type element = typeOfName(context, given->second.elementType);
  if (!element)
    fail("--input " + name + ": '" + given->second.elementType +
         "' is no element type; these are float32, float64, int64, int32, bool, ...");
  return makeInput(inputShape(name, given->second), element);
}

IValue ModuleImporter::importList(const ArgumentType &type, const InputName &name,
                                  const Example *example) {
  bool hasExample = example && !example->parts.empty();
  size_t length =
      hasExample ? example->parts.size() : givenLength(type, name.given, givenInputNames);
  if (length == 0)
    fail("the file does not say what the list '" + name.text + "' holds: give the element type " +
         "and the shape of each tensor with --input, as in --input " + name.text +
         "_0=float32[8,16]");
  std::vector<IValue> elements;
  for (size_t i = 0; i < length; ++i)
    elements.push_back(importInput(type.part(), name.element(std::to_string(i)),
                                   hasExample ? &example->parts[i].second : nullptr));
  return heap.list(std::move(elements));
}

IValue ModuleImporter::importDict(const ArgumentType &type, const InputName &name,
                                  const Example *example) {
  std::vector<std::string> keys;
  bool hasExample = example && !example->parts.empty();
  if (hasExample)
    llvm::append_range(keys, llvm::make_first_range(example->parts));
  else
    keys = givenKeys(type, name.given, givenInputNames);
  if (keys.empty())
    fail("the file does not say what the dict '" + name.text + "' holds: give the element type " +
         "and the shape of each tensor with --input, as in --input " + name.text +
         "_KEY=float32[8,16]");
  std::vector<std::pair<IValue, IValue>> items;
  for (auto [i, text] : llvm::enumerate(keys)) {
    IValue key = text;
    if (int64_t number; type.hasIntegerKeys && llvm::to_integer(text, number))
      key = number;
    items.push_back({key, importInput(type.part(), name.element(text),
                                      hasExample ? &example->parts[i].second : nullptr)});
  }
  return heap.dict(std::move(items));
}

IValue ModuleImporter::importInput(const ArgumentType &type, const InputName &name,
                                   const Example *example) {
  if (!holdsTensors(type))
    fail("the argument '" + name.text + "' of forward is no tensor and has no default value: " +
         "only tensors, and lists, tuples and dicts of tensors, can be inputs");
  switch (type.kind) {
  case ArgumentType::Kind::Tensor:
    return importTensor(name, example);
  case ArgumentType::Kind::Optional:
    if (!isGiven(type, name.given, givenInputNames) && !(example && example->isGiven()))
      return IValue();
    return importInput(type.part(), name, example);
  case ArgumentType::Kind::List:
    return importList(type, name, example);
  case ArgumentType::Kind::Dict:
    return importDict(type, name, example);
  case ArgumentType::Kind::Tuple: {
    std::vector<IValue> elements;
    for (auto [i, part] : llvm::enumerate(type.parts))
      elements.push_back(
          importInput(part.second, name.element(part.first),
                      example && i < example->parts.size() ? &example->parts[i].second : nullptr));
    return type.type ? heap.namedTuple(*type.type, std::move(elements))
                     : heap.tuple(std::move(elements));
  }
  case ArgumentType::Kind::Other:
    break;
  }
  llvm_unreachable("holds tensors");
}

Arguments ModuleImporter::importInputs(const Function &forward) {
  std::vector<Example> examples = reader.readExamples();
  ArrayRef<Parameter> parameters = ArrayRef(forward.parameters).drop_front();
  for (const auto &[name, type] : importOptions.inputTypes)
    givenInputNames.push_back(name);
  llvm::sort(givenInputNames, [&](const std::string &a, const std::string &b) {
    return importOptions.inputTypes.at(a).position < importOptions.inputTypes.at(b).position;
  });
  // "x_size" is the argument of this name, if there is one, and nothing inside of `x`.
  auto isArgument = [&](StringRef name) {
    return llvm::any_of(parameters, [&](const Parameter &each) { return each.name == name; });
  };
  std::vector<std::string> all = givenInputNames;
  Arguments arguments;
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    const std::string &name = parameter.name;
    givenInputNames = all;
    llvm::erase_if(givenInputNames,
                   [&](const std::string &each) { return each != name && isArgument(each); });
    const Example *example = i < examples.size() ? &examples[i] : nullptr;
    try {
      ArgumentType type = argumentType(code, parameter.type ? &*parameter.type : nullptr);
      bool isThere = isGiven(type, name, givenInputNames) || (example && example->isGiven());
      if (parameter.otherwise && !isThere)
        continue; // by call()
      arguments.values.push_back(importInput(type, {name, name}, example));
    } catch (const ImportError &error) {
      problems.push_back({.message = error.message});
      arguments.values.push_back(Broken());
    }
    arguments.names.push_back(name);
  }
  refuseUnknownInputs(parameters);
  checkDimensions();
  return arguments;
}

void ModuleImporter::refuseUnknownInputs(ArrayRef<Parameter> parameters) {
  std::vector<std::string> known(inputNames.begin(), inputNames.end());
  for (const Parameter &parameter : parameters)
    known.push_back(parameter.name);
  for (const auto &[name, type] : importOptions.inputTypes) {
    if (usedInputTypes.contains(name))
      continue;
    std::string inside = name + "_";
    auto part = inputNames.lower_bound(inside);
    bool holdsOthers = part != inputNames.end() && StringRef(*part).starts_with(inside);
    bool isArgument =
        llvm::any_of(parameters, [&](const Parameter &each) { return each.name == name; });
    std::string why = holdsOthers ? "it holds several inputs, of which the first is '" + *part + "'"
                      : isArgument
                          ? "it is no tensor"
                          : "forward has no argument of this name" + didYouMean(name, known);
    problems.push_back({.message = "--input " + name + ": " + why, .fault = Fault::Usage});
  }
}

// ---- outputs ----

// What is returned inside of what is returned.
static constexpr int kDeepest = 20;
static constexpr size_t kMostOutputs = 10000;

/// The values inside lists, tuples and dicts.
static void flatten(const IValue &value, std::vector<IValue> &into, int depth = 0) {
  if (depth > kDeepest || into.size() > kMostOutputs)
    fail("forward returns too many values");
  if (std::optional<ArrayRef<IValue>> elements = value.elements()) {
    for (const IValue &each : *elements)
      flatten(each, into, depth + 1);
  } else if (Dict *dict = value.dict()) {
    for (const auto &item : dict->items)
      flatten(item.second, into, depth + 1);
  } else {
    into.push_back(value);
  }
}

std::vector<ForwardOutput> ModuleImporter::importOutputs(const IValue &returned,
                                                         ImportResult &result) {
  std::vector<std::pair<std::string, IValue>> named;
  if (Dict *dict = returned.dict()) {
    std::vector<std::string> keys;
    for (const auto &item : dict->items)
      keys.push_back(toText(item.first));
    for (const auto &[key, value] : dict->items) {
      std::vector<IValue> leaves;
      flatten(value, leaves);
      for (auto [i, leaf] : llvm::enumerate(leaves))
        named.push_back({leaves.size() == 1 ? toText(key) : partName(toText(key), i, keys), leaf});
    }
  } else {
    std::vector<IValue> leaves;
    flatten(returned, leaves);
    for (auto [i, leaf] : llvm::enumerate(leaves))
      named.push_back({"output_" + std::to_string(i), leaf});
  }
  std::vector<ForwardOutput> outputs;
  for (const auto &[name, value] : named) {
    auto *tensor = value.tensor();
    if (auto *selection = value.get<aten::Selection>())
      caller.requireKnown(opBuilder.getUnknownLoc(), selection->mask);
    if (tensor || value.is<Broken>())
      result.outputs.push_back(name);
    if (tensor)
      outputs.push_back({caller.readPairs(opBuilder.getUnknownLoc(), *tensor), name});
  }
  return outputs;
}
