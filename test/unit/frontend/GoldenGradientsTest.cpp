// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every golden model, from every exporter: imported, made trainable and interpreted, its loss,
// outputs and gradients are those of PyTorch.
#include "frontend/onnx/Import.h"
#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/FunctionContract.h"
#include "reference/interpreter/Interpreter.h"
#include "training/MakeTrainable.h"

#include "accc/safetensors.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>

using namespace accc;
namespace fs = std::filesystem;

namespace {

llvm::json::Object metaOf(const fs::path &folder) {
  auto buffer = llvm::MemoryBuffer::getFile((folder / "meta.json").string());
  REQUIRE(buffer);
  auto value = llvm::json::parse((*buffer)->getBuffer());
  REQUIRE(static_cast<bool>(value));
  return *value->getAsObject();
}

template <typename T> std::vector<double> elements(const Tensor &tensor) {
  const T *data = static_cast<const T *>(tensor.raw());
  return std::vector<double>(data, data + tensor.size());
}

ReferenceArray arrayOf(const Tensor &tensor) {
  ReferenceArray array;
  array.shape.assign(tensor.shape().begin(), tensor.shape().end());
  array.values = tensor.dtype() == DType::f32   ? elements<float>(tensor)
                 : tensor.dtype() == DType::i64 ? elements<int64_t>(tensor)
                                                : elements<uint8_t>(tensor);
  return array;
}

/// The arguments of a step function by name: parameters from the weights, the rest from the file.
ReferenceArray argumentOf(llvm::StringRef name, const ImportResult &model,
                          const TensorMap &inputs) {
  if (auto weight = model.weights.find(name.str()); weight != model.weights.end())
    return fromBytes(weight->second.type, weight->second.bytes);
  if (auto input = inputs.find(name.str()); input != inputs.end())
    return arrayOf(input->second);
  return ReferenceArray({}, 0.0); // seed, step
}

/// The greatest difference, relative to the greatest expected element.
double distance(const ReferenceArray &actual, const ReferenceArray &expected) {
  double difference = 0, scale = 1e-6;
  for (int64_t i = 0; i < expected.size(); ++i) {
    difference = std::max(difference, std::abs(actual.values[i] - expected.values[i]));
    scale = std::max(scale, std::abs(expected.values[i]));
  }
  return difference / scale;
}

ImportOptions importOptions(const llvm::json::Object &meta, const llvm::json::Object &file) {
  ImportOptions options;
  if (const auto *dims = meta.getObject("dims"))
    for (const auto &[name, value] : *dims)
      options.dimensions[name.str()] = *value.getAsInteger();
  if (const auto *frozen = file.getArray("freeze"))
    for (const llvm::json::Value &name : *frozen)
      options.frozen.push_back("^" + llvm::Regex::escape(*name.getAsString()) + "$");
  return options;
}

void check(const fs::path &folder, const llvm::json::Object &meta, const llvm::json::Object &file) {
  std::string name = file.getString("file")->str();
  // Folding constants replaces parameters by others.
  bool folded = file.getString("exporter") == "dynamo-folded";
  INFO(folder.filename().string() << "/" << name);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  ImportResult model = importOnnx((folder / name).string(), importOptions(meta, file), context);
  for (const Problem &problem : model.problems)
    UNSCOPED_INFO(describe(problem));
  REQUIRE(model.module);
  TrainingOptions training;
  training.loss = meta.getString("loss")->str();
  REQUIRE(succeeded(makeTrainable(*model.module, training)));

  TensorMap inputs = load_safetensors((folder / "inputs.safetensors").string());
  TensorMap golden = load_safetensors((folder / "golden64.safetensors").string());
  auto step = model.module->lookupSymbol<mlir::func::FuncOp>("grad_step");
  REQUIRE(step);
  llvm::SmallVector<ReferenceArray> arguments, results;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    arguments.push_back(argumentOf(step.getArgAttrOfType<mlir::StringAttr>(i, kNameAttr).getValue(),
                                   model, inputs));
  REQUIRE(succeeded(interpret(step, arguments, results)));
  std::map<std::string, ReferenceArray> byName;
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    byName[step.getResultAttrOfType<mlir::StringAttr>(i, kNameAttr).getValue().str()] = results[i];
  for (const auto &[name, tensor] : golden) {
    bool isGradient = name.rfind("grad.", 0) == 0;
    if (name.rfind("param.", 0) == 0 || name == "losses" || (folded && isGradient))
      continue;
    INFO(name);
    REQUIRE(byName.count(name));
    CHECK(distance(byName[name], arrayOf(tensor)) < 2e-5);
  }
}

} // namespace

TEST_CASE("golden models: loss and gradients are PyTorch's", "[golden]") {
  for (const fs::directory_entry &entry : fs::directory_iterator(ACCC_GOLDENS)) {
    if (!fs::exists(entry.path() / "golden64.safetensors"))
      continue;
    llvm::json::Object meta = metaOf(entry.path());
    for (const llvm::json::Value &file : *meta.getArray("files"))
      DYNAMIC_SECTION(entry.path().filename().string()
                      << " " << file.getAsObject()->getString("file")->str())
    check(entry.path(), meta, *file.getAsObject());
  }
}
