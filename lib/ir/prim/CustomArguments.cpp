// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/CustomArguments.h"

#include "ir/prim/ElementTypes.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace accc::prim;

bool accc::prim::isCustomConfig(DictionaryAttr config) {
  return llvm::all_of(config, [](NamedAttribute attribute) {
    Attribute value = attribute.getValue();
    if (auto list = dyn_cast<ArrayAttr>(value))
      return llvm::all_of(list, [](Attribute each) { return isa<StringAttr>(each); });
    if (auto integer = dyn_cast<IntegerAttr>(value))
      return integer.getType().isSignlessInteger(64);
    if (auto real = dyn_cast<FloatAttr>(value))
      return real.getType().isF64();
    return isa<StringAttr, DenseI64ArrayAttr, DenseF64ArrayAttr>(value);
  });
}

CustomArguments::CustomArguments(TypeRange inputs, TypeRange outputs, DictionaryAttr config) {
  auto add = [&](TypeRange types) {
    for (Type type : types) {
      auto tensor = cast<RankedTensorType>(type);
      ArrayRef<int64_t> shape = tensor.getShape(); // lives as long as the context
      tensors.push_back({dtypeOf(tensor.getElementType()), static_cast<int32_t>(shape.size()),
                         shape.empty() ? nullptr : shape.data(), nullptr});
    }
  };
  for (TypeRange types : {inputs, outputs, outputs, inputs})
    add(types);
  for (NamedAttribute attribute : config)
    addAttribute(attribute);
  arguments.num_inputs = static_cast<int32_t>(inputs.size());
  arguments.num_outputs = static_cast<int32_t>(outputs.size());
  arguments.num_attributes = static_cast<int32_t>(attributes.size());
  arguments.threads = 1;
  arguments.inputs = tensors.data();
  arguments.outputs = tensors.data() + inputs.size();
  arguments.attributes = attributes.data();
  arguments.message = text;
}

void CustomArguments::addAttribute(NamedAttribute attribute) {
  accc_attribute &added = attributes.emplace_back();
  added.name = texts.emplace_back(attribute.getName().str()).c_str();
  Attribute value = attribute.getValue();
  auto addIntegers = [&](ArrayRef<int64_t> values) {
    added.kind = ACCC_INTEGERS;
    added.count = static_cast<int32_t>(values.size());
    added.integers = integers.emplace_back(values.begin(), values.end()).data();
  };
  auto addReals = [&](ArrayRef<double> values) {
    added.kind = ACCC_REALS;
    added.count = static_cast<int32_t>(values.size());
    added.reals = reals.emplace_back(values.begin(), values.end()).data();
  };
  auto addTexts = [&](ArrayRef<Attribute> values) {
    std::vector<const char *> &list = textLists.emplace_back();
    for (Attribute each : values)
      list.push_back(texts.emplace_back(cast<StringAttr>(each).getValue().str()).c_str());
    added.kind = ACCC_STRINGS;
    added.count = static_cast<int32_t>(list.size());
    added.strings = list.data();
  };
  if (auto integer = dyn_cast<IntegerAttr>(value))
    addIntegers(integer.getInt());
  else if (auto real = dyn_cast<FloatAttr>(value))
    addReals(real.getValueAsDouble());
  else if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
    addIntegers(list.asArrayRef());
  else if (auto list = dyn_cast<DenseF64ArrayAttr>(value))
    addReals(list.asArrayRef());
  else if (auto list = dyn_cast<ArrayAttr>(value))
    addTexts(list.getValue());
  else
    addTexts(value);
}

void CustomArguments::addGradients() {
  arguments.output_gradients = arguments.outputs + arguments.num_outputs;
  arguments.input_gradients = arguments.output_gradients + arguments.num_outputs;
}

void CustomArguments::setWorkspace(MutableArrayRef<char> bytes) {
  arguments.workspace = bytes.data();
  arguments.workspace_bytes = bytes.size();
}

std::string CustomArguments::message() const {
  StringRef said(text, strnlen(text, sizeof(text)));
  return said.empty() ? "it does not say why" : said.str();
}
