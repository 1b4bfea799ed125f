// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interpret before = interpret after, for every pass on the training step of whole models.
#include "Equivalence.h"
#include "frontend/onnx/Import.h"
#include "fusion/Passes.h"
#include "fusion/fuse/Fuse.h"
#include "ir/interfaces/ReferenceValues.h"
#include "ir/nn/Nn.h"
#include "support/Attributes.h"
#include "training/MakeTrainable.h"

#include "mlir/Pass/PassManager.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

/// The model's own parameters, samples for the rest.
std::vector<ReferenceArray> argumentsOf(func::FuncOp function, const WeightTable &weights) {
  std::vector<ReferenceArray> arguments = sampleArguments(function);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto name = function.getArgAttrOfType<StringAttr>(i, kNameAttr);
    const auto *weight = name ? weights.find(name.str()) : weights.end();
    if (weight != weights.end())
      arguments[i] = fromBytes(weight->second.type, weight->second.bytes);
  }
  return arguments;
}

LogicalResult runPass(ModuleOp module, std::unique_ptr<Pass> pass) {
  PassManager passes(module.getContext());
  passes.addNestedPass<func::FuncOp>(std::move(pass));
  return passes.run(module);
}

void checkModel(const std::string &name) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect, nn::NnDialect>();
  ImportOptions options;
  options.dimensions["batch"] = 2;
  std::string path = ACCC_TEST_SOURCE "/training/goldens/" + name + "/model.onnx";
  ImportResult model = importOnnx(path, options, context);
  REQUIRE(model.module);
  REQUIRE(succeeded(makeTrainable(*model.module, {"cross_entropy", "", {}})));

  auto results = [&] {
    auto step = model.module->lookupSymbol<func::FuncOp>("grad_step");
    SmallVector<ReferenceArray> found;
    REQUIRE(succeeded(interpret(step, argumentsOf(step, model.weights), found)));
    return found;
  };
  SmallVector<ReferenceArray> expected = results();
  auto check = [&](const char *pass, LogicalResult status) {
    INFO(name << " " << pass);
    REQUIRE(succeeded(status));
    CHECK(difference(results(), expected, 1e-6) == "");
  };
  check("decompose", runPass(*model.module, createDecomposePass()));
  check("simplify", runPass(*model.module, createSimplifyPass()));
  check("lay out", runPass(*model.module, createLayOutContractionsPass()));
  check("fuse", formFusions(*model.module));
}

} // namespace

TEST_CASE("passes keep the values of models") {
  for (const char *name : {"digits_mlp", "digits_cnn", "resnet18", "efficientnet_b0", "bert",
                           "gpt2", "swin_t", "llama15m", "lstm"})
    checkModel(name);
}
