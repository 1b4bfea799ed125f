// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models in 16-bit floats: a node computes in f32 and rounds what it gives, once.
#include "ModelText.h"

#include "frontend/common/Fold.h"
#include "frontend/torchexport/Import.h"
#include "ir/prim/Prim.h"
#include "ir/prim/Tensor.h"
#include "support/ModuleLocation.h"

#include "mlir/IR/TypeUtilities.h"
#include <catch2/catch.hpp>

#include <filesystem>

using namespace accc;
using namespace accc::test;

namespace {
using Steps = std::vector<std::string>;

/// What y = f(x) of bfloat16[4] is computed by: ops with the element types of their results.
Steps stepsOf(const std::string &nodes, int opset = 18) {
  Imported m = importText("g (bfloat16[4] x) => (bfloat16[4] y) { " + nodes + " }", {}, opset);
  INFO(m.problems());
  REQUIRE(m.result.module);
  Steps steps;
  for (mlir::Operation &op : m.forward().front().without_terminator()) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << op.getName() << ' ' << mlir::getElementTypeOrSelf(op.getResult(0));
    steps.push_back(text);
  }
  return steps;
}

/// c is a number of bf16.
const std::string kConstant = "f = Constant <value = float {0.25}> () c = Cast <to = 16> (f) ";
/// x + c - x, of which the sum is rounded before the difference.
const Steps kSumAndDifference = {"prim.constant f32", "prim.convert f32", "prim.add f32",
                                 "prim.convert bf16", "prim.convert f32", "prim.convert f32",
                                 "prim.sub f32",      "prim.convert bf16"};

Steps sorted(Steps steps) {
  std::sort(steps.begin(), steps.end());
  return steps;
}
} // namespace

TEST_CASE("half: a node rounds its result alone, whatever it is made of") {
  CHECK(stepsOf("y = Softplus(x)") ==
        Steps{"prim.convert f32", "nn.softplus f32", "prim.convert bf16"});
  Steps steps = stepsOf("y = Mish(x)");
  CHECK(std::count(steps.begin(), steps.end(), "prim.convert bf16") == 1);
  CHECK(std::count_if(steps.begin(), steps.end(),
                      [](const std::string &step) { return step.ends_with(" bf16"); }) == 1);
}

TEST_CASE("half: every node rounds") {
  CHECK(sorted(stepsOf(kConstant + "s = Add(x, c) y = Sub(s, x)")) == sorted(kSumAndDifference));
}

TEST_CASE("half: subgraphs round in their own nodes") {
  CHECK(sorted(stepsOf(kConstant +
                       "k = Constant <value = bool {1}> () y = If (k) "
                       "<then_branch = a () => (bfloat16[4] u) { s = Add(x, c) u = Sub(s, x) }, "
                       "else_branch = b () => (bfloat16[4] v) { v = Mul(x, c) }>")) ==
        sorted(kSumAndDifference));
}

TEST_CASE("half: numbers of a rule are not rounded") {
  // 0.1 is none of bf16, which has 0.100097656.
  Imported m = importText("g (bfloat16[4] x) => (bfloat16[4] y) { y = Shrink <bias = 0.1> (x) }");
  INFO(m.problems());
  CHECK_THAT(m.text(), Catch::Matchers::Contains("1.000000e-01"));
}

TEST_CASE("half: what moves elements and what multiplies stays in 16 bits") {
  CHECK(stepsOf("t = Concat <axis = 0> (x, x) i = Constant <value = int64[4] {0, 3, 5, 7}> () "
                "y = Gather(t, i)") ==
        Steps{"prim.concatenate bf16", "prim.constant i64", "prim.gather bf16"});
  CHECK(stepsOf("a = Constant <value = int64[2] {1, 4}> () r = Reshape(x, a) "
                "t = Transpose(r) p = MatMul(t, r) d = Constant <value = int64[1] {0}> () "
                "q = Gather(p, d) o = Constant <value = int64[1] {4}> () y = Reshape(q, o)")[2] ==
        "nn.linear bf16");
}

TEST_CASE("half: whole models compute nothing in 16 bits but what rounds itself") {
  size_t models = 0;
  for (const auto &file : std::filesystem::recursive_directory_iterator(ACCC_TRAINING "/half")) {
    bool isOnnx = file.path().extension() == ".onnx";
    if (!isOnnx && file.path().extension() != ".pt2")
      continue;
    INFO(file.path());
    mlir::MLIRContext context;
    ImportOptions options;
    options.openDimension = 4;
    std::string path = file.path().string();
    ImportResult result =
        isOnnx ? importOnnx(path, options, context) : importTorchExport(path, options, context);
    REQUIRE(result.module);
    auto isHalf = [](mlir::Type type) { return prim::isHalf(mlir::getElementTypeOrSelf(type)); };
    for (mlir::Operation &op :
         result.module->lookupSymbol<mlir::func::FuncOp>("forward").front().without_terminator()) {
      bool isNarrow =
          llvm::any_of(op.getOperandTypes(), isHalf) || llvm::any_of(op.getResultTypes(), isHalf);
      bool mayBe = op.hasTrait<RoundsItself>() || moves(op) ||
                   llvm::isa<prim::ConvertOp, prim::ConstantOp, prim::GatherOp, prim::SelectOp>(op);
      if (isNarrow && !mayBe)
        FAIL_CHECK(op.getName().getStringRef().str() << " computes in 16 bits");
    }
    ++models;
  }
  CHECK(models >= 11);
}

TEST_CASE("half: what a module takes out of autocast multiplies in f32, whatever the precision") {
  auto products = [](const std::string &file) {
    mlir::MLIRContext context;
    ImportResult result = importTorchExport(ACCC_TRAINING "/half/autocast/" + file, {}, context);
    REQUIRE(result.module);
    std::vector<std::string> modules;
    result.module->walk([&](prim::DotGeneralOp product) {
      if (product.getFullPrecision())
        modules.push_back(moduleNames(product.getLoc()));
    });
    return modules;
  };
  CHECK(products("model.pt2") == std::vector<std::string>{"own"});
  CHECK(products("joint.pt2").empty()); // PyTorch's joint graphs do not say it
}
