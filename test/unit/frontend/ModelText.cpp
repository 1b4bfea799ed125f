// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ModelText.h"

#include "frontend/onnx/Proto.h"
#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/FunctionContract.h"
#include "reference/interpreter/Interpreter.h"

#include <catch2/catch.hpp>
#include <onnx/defs/parser.h>

using namespace accc;
using namespace accc::test;

namespace {
/// The text syntax has no dots in names: `a__b` stands for `a.b`.
void rename(std::string &name) {
  for (size_t at = name.find("__"); at != std::string::npos; at = name.find("__"))
    name.replace(at, 2, ".");
}
void rename(onnx::ModelProto &model) {
  for (onnx::TensorProto &tensor : *model.mutable_graph()->mutable_initializer())
    rename(*tensor.mutable_name());
  for (onnx::NodeProto &node : *model.mutable_graph()->mutable_node())
    for (std::string &input : *node.mutable_input())
      rename(input);
}
} // namespace

ReferenceArray accc::test::array(std::vector<int64_t> shape, std::vector<double> values) {
  ReferenceArray result(shape);
  REQUIRE(result.values.size() == values.size());
  result.values = std::move(values);
  return result;
}

std::string test::modelBytes(const std::string &graph, int opset, const std::string &producer,
                             const std::string &functions) {
  std::string text = "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
                     ", \"local\" : 1, \"ai.onnx.preview.training\" : 1]";
  if (!producer.empty())
    text += ", producer_name: \"" + producer + "\"";
  text += ">\n" + graph + functions;
  onnx::ModelProto model;
  auto status = onnx::OnnxParser::Parse(model, text.c_str());
  INFO(status.ErrorMessage());
  REQUIRE(status.IsOK());
  rename(model);
  return model.SerializeAsString();
}

Imported test::importBytes(const std::string &bytes, const ImportOptions &options,
                           const std::string &folder) {
  Imported imported;
  imported.context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  imported.result = importOnnxBytes(bytes, folder, options, *imported.context);
  return imported;
}

Imported test::importText(const std::string &graph, const ImportOptions &options, int opset,
                          const std::string &producer) {
  return importBytes(modelBytes(graph, opset, producer), options);
}

mlir::func::FuncOp Imported::forward() {
  INFO(problems());
  REQUIRE(result.module);
  return result.module->lookupSymbol<mlir::func::FuncOp>("forward");
}

std::string Imported::text() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  forward().print(stream);
  return text;
}

std::string Imported::problems() const {
  std::string text;
  for (const Problem &problem : result.problems)
    text += describe(problem) + "\n";
  return text;
}

std::string Imported::warnings() const {
  std::string text;
  for (const Problem &remark : result.remarks)
    if (remark.severity == Problem::Severity::Warning)
      text += describe(remark) + "\n";
  return text;
}

std::string Imported::outputRole(const std::string &name) {
  for (unsigned i = 0, e = forward().getNumResults(); i < e; ++i)
    if (resultText(forward(), i, kNameAttr) == name)
      return stringifyRole(*resultRole(forward(), i)).str();
  return "none";
}

std::string Imported::argument(const std::string &name, const std::string &attribute) {
  auto function = forward();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (function.getArgAttrOfType<mlir::StringAttr>(i, kNameAttr).getValue() != name)
      continue;
    mlir::Attribute value = function.getArgAttr(i, attribute);
    if (!value)
      return "";
    if (auto string = llvm::dyn_cast<mlir::StringAttr>(value))
      return string.getValue().str();
    if (auto role = llvm::dyn_cast<prim::RoleAttr>(value))
      return stringifyRole(role.getValue()).str();
    return "set";
  }
  return "none";
}

std::map<std::string, ReferenceArray>
Imported::run(const std::map<std::string, ReferenceArray> &inputs) {
  auto function = forward();
  llvm::SmallVector<ReferenceArray> arguments, values;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    std::string name = function.getArgAttrOfType<mlir::StringAttr>(i, kNameAttr).getValue().str();
    if (auto input = inputs.find(name); input != inputs.end())
      arguments.push_back(input->second);
    else if (auto weight = result.weights.find(name); weight != result.weights.end())
      arguments.push_back(fromBytes(weight->second.type, weight->second.bytes));
    else
      arguments.push_back(ReferenceArray({2}, 3.0)); // the random key
  }
  REQUIRE(succeeded(interpret(function, arguments, values)));
  std::map<std::string, ReferenceArray> results;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    std::string name =
        function.getResultAttrOfType<mlir::StringAttr>(i, kNameAttr).getValue().str();
    bool update = resultRole(function, i) == Role::Update;
    results[(update ? "update " : "") + name] = values[i];
  }
  return results;
}
