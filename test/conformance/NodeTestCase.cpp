// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NodeTestCase.h"

#include "frontend/common/ImportError.h"
#include "frontend/onnx/Import.h"
#include "frontend/onnx/Reader.h"
#include "frontend/onnx/Tensors.h"
#include "ir/prim/FunctionContract.h"

#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using namespace accc;
using namespace accc::onnx_import;
namespace fs = std::filesystem;

namespace {

using Values = google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>;

/// input_0.pb, input_1.pb ... of a data set, which are the values that the graph declares.
/// ONNX 1.12 stored bfloat16 as uint16.
void readTensors(const std::string &prefix, const Values &declared, TensorReader &reader,
                 std::vector<mlir::DenseElementsAttr> &tensors) {
  for (int i = 0; i < declared.size(); ++i) {
    auto buffer = llvm::MemoryBuffer::getFile(prefix + std::to_string(i) + ".pb");
    if (!buffer)
      fail("no " + prefix + llvm::Twine(i) + ".pb");
    onnx::TensorProto tensor;
    llvm::StringRef bytes = (*buffer)->getBuffer();
    if (!tensor.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      fail("not a tensor");
    if (declared[i].type().tensor_type().elem_type() == onnx::TensorProto::BFLOAT16 &&
        tensor.data_type() == onnx::TensorProto::UINT16)
      tensor.set_data_type(onnx::TensorProto::BFLOAT16);
    tensors.push_back(reader.attribute(tensor));
  }
}

/// What the graph takes: old files list their initializers among the inputs.
Values inputsOf(const onnx::GraphProto &graph) {
  Values inputs;
  for (const onnx::ValueInfoProto &input : graph.input())
    if (llvm::none_of(graph.initializer(), [&](const onnx::TensorProto &tensor) {
          return tensor.name() == input.name();
        }))
      *inputs.Add() = input;
  return inputs;
}

bool tensorsOnly(const Values &values) {
  for (const onnx::ValueInfoProto &value : values)
    if (!value.type().has_tensor_type())
      return false;
  return true;
}

/// Which inputs are given as constants. First none, then the integers and booleans after the first
/// input, then all.
enum class Bind { None, Integers, All };

ImportOptions optionsFor(const NodeTestCase &test, Bind bind) {
  ImportOptions options;
  options.training = false;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    auto type = llvm::cast<mlir::RankedTensorType>(test.inputs[i].getType());
    bool isFloat = llvm::isa<mlir::FloatType>(type.getElementType());
    if (bind == Bind::All || (bind == Bind::Integers && i > 0 && !isFloat))
      options.inputs[test.inputNames[i]] = test.inputs[i];
    for (int64_t d = 0; d < type.getRank(); ++d)
      options.dimensions[test.inputNames[i] + "." + std::to_string(d)] = type.getDimSize(d);
  }
  return options;
}

} // namespace

std::vector<fs::path> findNodeTests(const fs::path &folder, const std::string &prefix) {
  std::vector<fs::path> tests;
  for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::end(entry); ++entry) {
    if (!fs::exists(entry->path() / "model.onnx"))
      continue;
    entry.disable_recursion_pending();
    if (entry->path().filename().string().rfind(prefix, 0) == 0)
      tests.push_back(entry->path());
  }
  std::sort(tests.begin(), tests.end());
  return tests;
}

std::vector<std::string> dataSetsOf(const fs::path &test) {
  std::vector<std::string> sets;
  for (;;) {
    fs::path next = test / ("test_data_set_" + std::to_string(sets.size()));
    if (!fs::exists(next))
      return sets;
    sets.push_back(next.string());
  }
}

/// What `import` gives with as few inputs as constants as it takes.
static ImportResult
importWithFewest(const NodeTestCase &test,
                 llvm::function_ref<ImportResult(const ImportOptions &)> import) {
  ImportResult result;
  for (Bind bind : {Bind::None, Bind::Integers, Bind::All}) {
    result = import(optionsFor(test, bind));
    if (result.module)
      break;
  }
  return result;
}

ImportResult importNodeTest(const std::string &model, const NodeTestCase &test,
                            mlir::MLIRContext &context) {
  return importWithFewest(
      test, [&](const ImportOptions &options) { return importOnnx(model, options, context); });
}

ImportResult importNodeTestBytes(const std::string &bytes, const NodeTestCase &test,
                                 mlir::MLIRContext &context) {
  return importWithFewest(test, [&](const ImportOptions &options) {
    return importOnnxBytes(bytes, "", options, context);
  });
}

llvm::SmallVector<ReferenceArray> argumentsOf(const ImportResult &model, const NodeTestCase &test) {
  mlir::ModuleOp module = *model.module;
  auto forward = module.lookupSymbol<mlir::func::FuncOp>("forward");
  llvm::SmallVector<ReferenceArray> arguments;
  for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
    std::string name = forward.getArgAttrOfType<mlir::StringAttr>(i, kNameAttr).str();
    auto input = llvm::find(test.inputNames, name);
    auto variable = model.weights.find(name);
    if (input != test.inputNames.end())
      arguments.push_back(toReference(test.inputs[input - test.inputNames.begin()]));
    else if (variable != model.weights.end())
      arguments.push_back(fromBytes(variable->second.type, variable->second.bytes));
    else
      arguments.push_back(ReferenceArray({2}, 7)); // random_key
  }
  return arguments;
}

std::string joined(const std::vector<Problem> &problems) {
  std::string text;
  for (const Problem &problem : problems)
    text += (text.empty() ? "" : "; ") + describe(problem);
  return text;
}

std::string readNodeTest(const std::string &model, const std::string &dataSet,
                         mlir::MLIRContext &context, NodeTestCase &test) {
  try {
    auto proto = readModel(model);
    Values inputs = inputsOf(proto->graph());
    if (!tensorsOnly(inputs) || !tensorsOnly(proto->graph().output()))
      fail("sequences and optionals as inputs or outputs");
    TensorReader reader(context, proto, "");
    readTensors(dataSet + "/input_", inputs, reader, test.inputs);
    readTensors(dataSet + "/output_", proto->graph().output(), reader, test.outputs);
    for (const auto &value : inputs)
      test.inputNames.push_back(value.name());
    for (const auto &value : proto->graph().output())
      test.outputNames.push_back(value.name());
    return "";
  } catch (const ImportError &error) {
    return error.message;
  }
}

std::string compare(mlir::DenseElementsAttr expected, mlir::Type actualType,
                    const ReferenceArray &actual) {
  auto type = llvm::cast<mlir::RankedTensorType>(expected.getType());
  if (actualType != type) {
    std::string text;
    llvm::raw_string_ostream(text) << "gives " << actualType << " where " << type << " is expected";
    return text;
  }
  ReferenceArray wanted = toReference(expected);
  bool isFloat = llvm::isa<mlir::FloatType>(type.getElementType());
  double relative = type.getElementType().isBF16() ? 0x1p-6 : 1e-3;
  for (int64_t i = 0; i < wanted.size(); ++i) {
    double w = wanted.values[i], a = roundToElement(type.getElementType(), actual.values[i]);
    bool close = (std::isnan(w) && std::isnan(a)) || w == a ||
                 (isFloat && std::abs(w - a) <= 1e-7 + relative * std::abs(w));
    if (!close)
      return "element " + std::to_string(i) + " is " + std::to_string(a) + " where " +
             std::to_string(w) + " is expected";
  }
  return "";
}
