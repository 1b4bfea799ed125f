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

IValue ModuleImporter::importInput(const Parameter &parameter,
                                   std::optional<RankedTensorType> example) {
  const std::string &name = parameter.name;
  auto given = importOptions.inputTypes.find(name);
  bool isGiven = given != importOptions.inputTypes.end();
  std::string type = parameter.type ? parameter.type->text : "Tensor";
  bool isTensor = example && *example;
  if (!isGiven && !isTensor) {
    if (parameter.otherwise)
      return IValue(); // by call()
    if (type == "Tensor" || (parameter.type && !parameter.type->operands.empty() &&
                             parameter.type->operands[0].text == "Optional"))
      fail("the file does not say what the input '" + name + "' is: give its element type and " +
           "shape with --input, as in --input " + name + "=float32[8,16]");
    fail("the argument '" + name + "' of forward is no tensor and has no default value: only " +
         "tensors can be inputs");
  }
  if (auto known = importOptions.inputs.find(name); known != importOptions.inputs.end())
    return aten::MutableTensor(
        opBuilder.create<prim::ConstantOp>(location(name), known->second.getType(), known->second),
        name);
  if (!isGiven)
    return aten::MutableTensor(
        addInput(exampleShape(*this, name, *example), example->getElementType(), name), name);
  Type element = typeOfName(context, given->second.elementType);
  if (!element)
    fail("--input " + name + ": '" + given->second.elementType +
         "' is no element type; these are float32, float64, int64, int32, bool, ...");
  return aten::MutableTensor(addInput(inputShape(name, given->second), element, name), name);
}

Arguments ModuleImporter::importInputs(const Function &forward) {
  std::optional<std::vector<RankedTensorType>> examples = reader.readExamples();
  ArrayRef<Parameter> parameters = ArrayRef(forward.parameters).drop_front();
  std::vector<std::string> names;
  Arguments arguments;
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    names.push_back(parameter.name);
    std::optional<RankedTensorType> example;
    if (examples && i < examples->size())
      example = (*examples)[i];
    try {
      IValue value = importInput(parameter, example);
      if (value.isNone())
        continue;
      arguments.values.push_back(value);
    } catch (const ImportError &error) {
      problems.push_back({.message = error.message});
      arguments.values.push_back(Broken());
    }
    arguments.names.push_back(parameter.name);
  }
  for (const auto &[name, type] : importOptions.inputTypes)
    if (!llvm::is_contained(names, name))
      problems.push_back({.message = "--input " + name + ": forward has no argument of this name" +
                                     didYouMean(name, names),
                          .fault = Fault::Usage});
  checkDimensions();
  return arguments;
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
    for (const auto &[key, value] : dict->items) {
      std::vector<IValue> leaves;
      flatten(value, leaves);
      for (auto [i, leaf] : llvm::enumerate(leaves))
        named.push_back(
            {leaves.size() == 1 ? toText(key) : toText(key) + "_" + std::to_string(i), leaf});
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
    if (tensor || value.is<Broken>())
      result.outputs.push_back(name);
    if (tensor)
      outputs.push_back({caller.read(opBuilder.getUnknownLoc(), *tensor), name});
  }
  return outputs;
}
