// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OperatorVariants.h"

#include "conformance/NodeTestCase.h"
#include "unit/kernels/Batch.h"

#include "driver/Pipeline.h"
#include "frontend/onnx/Proto.h"
#include "ir/prim/Tensor.h"
#include "training/autodiff/Differentiate.h"

#include "llvm/ADT/STLExtras.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <set>

using namespace mlir;
using namespace accc;
using namespace accc::test;
namespace fs = std::filesystem;

namespace {

/// Of elementary functions after one another, in f32 against f64.
constexpr double kTolerance = 2e-4;

struct NodeModel {
  onnx::ModelProto proto;
  NodeTestCase test;
};

std::optional<NodeModel> readModel(const fs::path &folder, MLIRContext &context) {
  NodeModel model;
  std::string path = (folder / "model.onnx").string();
  std::ifstream file(path, std::ios::binary);
  if (!model.proto.ParseFromIstream(&file) || dataSetsOf(folder).empty() ||
      !readNodeTest(path, dataSetsOf(folder).front(), context, model.test).empty())
    return std::nullopt;
  return model;
}

/// What two tests have in common of which one is enough.
std::string kindOf(const NodeModel &model) {
  std::string text;
  for (const onnx::NodeProto &node : model.proto.graph().node()) {
    text += node.op_type();
    for (const onnx::AttributeProto &attribute : node.attribute())
      text += attribute.SerializeAsString();
  }
  llvm::raw_string_ostream stream(text);
  for (DenseElementsAttr input : model.test.inputs) {
    auto type = cast<RankedTensorType>(input.getType());
    stream << type.getRank() << (isa<FloatType>(type.getElementType()) ? "f" : "i");
  }
  return text;
}

DenseElementsAttr attributeOf(const OperatorInput &input) {
  if (input.type.getElementType().isInteger(1)) {
    SmallVector<bool> values(input.value.values.begin(), input.value.values.end());
    return DenseElementsAttr::get(input.type, ArrayRef<bool>(values));
  }
  return DenseElementsAttr::getFromRawBuffer(input.type, toBytes(input.value, input.type));
}

NodeModel varied(NodeModel model, const OperatorInputs &inputs) {
  auto &graph = *model.proto.mutable_graph();
  for (auto [i, input] : llvm::enumerate(inputs)) {
    model.test.inputs[i] = attributeOf(input);
    for (onnx::ValueInfoProto &declared : *graph.mutable_input())
      if (declared.name() == model.test.inputNames[i]) {
        auto &shape = *declared.mutable_type()->mutable_tensor_type()->mutable_shape();
        shape.clear_dim();
        for (int64_t extent : input.type.getShape())
          shape.add_dim()->set_dim_value(extent);
      }
  }
  for (onnx::ValueInfoProto &output : *graph.mutable_output())
    output.mutable_type()->mutable_tensor_type()->clear_shape();
  graph.clear_value_info();
  return model;
}

bool isFloat(Type type) { return isa<FloatType>(cast<RankedTensorType>(type).getElementType()); }

/// Appends to the function's results the gradients of the sum of its float results.
bool addGradients(func::FuncOp function) {
  Operation *end = function.front().getTerminator();
  OpBuilder builder(end);
  SmallVector<Value> results(end->getOperands()), wanted;
  Value loss;
  for (Value result : results)
    if (isFloat(result.getType())) {
      prim::Tensor sum = prim::sumAll(
          prim::Tensor(builder, function.getLoc(), result).convert(builder.getF64Type()));
      loss = loss ? sum + sum.wrap(loss) : sum;
    }
  for (BlockArgument argument : function.getArguments())
    if (isFloat(argument.getType()))
      wanted.push_back(argument);
  if (loss && !wanted.empty()) {
    auto gradients = differentiate(loss, wanted, builder);
    if (failed(gradients))
      return false;
    // Results by their uses: the derivative may have replaced what they were.
    results.assign(end->getOperands().begin(), end->getOperands().end());
    for (Value gradient : *gradients)
      if (gradient)
        results.push_back(gradient);
  }
  end->setOperands(results);
  function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                     end->getOperandTypes()));
  function.setAllResultAttrs(
      SmallVector<DictionaryAttr>(results.size(), DictionaryAttr::get(function.getContext())));
  return true;
}

/// The phases up to fusion.
bool simplified(OwningOpRef<ModuleOp> &module, MLIRContext &context) {
  CompileOptions options;
  Compilation compilation(context, options);
  compilation.module = std::move(module);
  bool good =
      succeeded(runPhase(compilation, "decompose")) && succeeded(runPhase(compilation, "simplify"));
  module = std::move(compilation.module);
  return good;
}

std::string labelOf(const fs::path &folder, const OperatorInputs &inputs) {
  std::string text = folder.filename().string();
  llvm::raw_string_ostream stream(text);
  for (const OperatorInput &input : inputs)
    stream << " " << input.type;
  return text;
}

bool isNarrow(const NodeModel &model) {
  return llvm::any_of(model.test.inputs, [](DenseElementsAttr input) {
    return isa<FloatType>(input.getElementType()) &&
           input.getElementType().getIntOrFloatBitWidth() < 32;
  });
}

} // namespace

VariantCounts accc::test::checkVariants(const Variation &variation) {
  VariantCounts counts;
  if (!fs::exists(ACCC_ONNX_NODE_TESTS)) {
    WARN("skipped: no folder " ACCC_ONNX_NODE_TESTS);
    return counts;
  }
  MLIRContext context(MLIRContext::Threading::DISABLED);
  registerDialects(context);
  Batch batch(context);
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
  std::set<std::string> kinds;
  for (const fs::path &folder : findNodeTests(ACCC_ONNX_NODE_TESTS, "")) {
    std::optional<NodeModel> model = readModel(folder, context);
    // One that is expanded into other operators is none of its own.
    if (folder.filename().string().find("_expanded") != std::string::npos)
      continue;
    if (!model || isNarrow(*model) || !kinds.insert(kindOf(*model)).second ||
        !importNodeTestBytes(model->proto.SerializeAsString(), model->test, context).module)
      continue;
    ++counts.operators;
    OperatorInputs original;
    for (DenseElementsAttr input : model->test.inputs)
      original.push_back({cast<RankedTensorType>(input.getType()), toReference(input)});
    for (const OperatorInputs &inputs : variation(original)) {
      std::string label = labelOf(folder, inputs);
      NodeModel changed = varied(*model, inputs);
      ImportResult imported =
          importNodeTestBytes(changed.proto.SerializeAsString(), changed.test, context);
      if (!imported.module) {
        ++counts.refused;
        CHECK(!imported.problems.empty());
        continue;
      }
      auto forward = imported.module->lookupSymbol<func::FuncOp>("forward");
      std::vector<ReferenceArray> arguments;
      for (ReferenceArray &argument : argumentsOf(imported, changed.test))
        arguments.push_back(std::move(argument));
      if (!addGradients(forward) || !simplified(imported.module, context)) {
        FAIL_CHECK(label << ": no gradient, or no primitives");
        continue;
      }
      ++counts.compared;
      batch.add(std::move(imported.module), std::move(arguments), label, kTolerance);
    }
  }
  for (const std::string &failure : batch.run())
    FAIL_CHECK(failure);
  return counts;
}
