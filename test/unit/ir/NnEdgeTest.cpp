// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composite ops where others have failed: empty and scalar tensors, bad labels, one element a
// channel.
#include "Program.h"
#include "reference/interpreter/GradientCheck.h"

#include "ir/prim/Prim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace accc;
using namespace accc::test;

namespace {
/// One op of nn over arguments %0, %1, ...; types without the word tensor.
std::string text(const std::string &op, const std::vector<std::string> &arguments,
                 const std::vector<std::string> &results) {
  std::vector<std::string> parameters, operandTypes, resultTypes, returned;
  for (auto [i, type] : llvm::enumerate(arguments)) {
    operandTypes.push_back("tensor<" + type + ">");
    parameters.push_back("%" + std::to_string(i) + ": " + operandTypes.back());
  }
  for (auto [i, type] : llvm::enumerate(results)) {
    resultTypes.push_back("tensor<" + type + ">");
    returned.push_back(results.size() == 1 ? "%r" : "%r#" + std::to_string(i));
  }
  std::string all = llvm::join(resultTypes, ", ");
  std::string count = results.size() == 1 ? "" : ":" + std::to_string(results.size());
  return "func.func @f(" + llvm::join(parameters, ", ") + ") -> (" + all + ") {\n  %r" + count +
         " = nn." + op + " : (" + llvm::join(operandTypes, ", ") + ") -> (" + all + ")\n  return " +
         llvm::join(returned, ", ") + " : " + all + "\n}\n";
}

struct Row {
  std::string op;
  std::vector<std::string> arguments, results;
};

/// Forward and backward at ones; neither may fail, whatever they give.
void runBothWays(const Row &row) {
  std::string program = text(row.op, row.arguments, row.results);
  INFO(program);
  Program forward(program);
  std::vector<ReferenceArray> arguments;
  for (mlir::Type type : forward.function().getArgumentTypes())
    arguments.emplace_back(mlir::cast<mlir::RankedTensorType>(type).getShape(), 1.0);
  std::vector<ReferenceArray> results = forward.run(arguments);
  auto vjp = buildVjp(forward.function());
  REQUIRE(vjp);
  for (ReferenceArray &result : results)
    arguments.emplace_back(result.shape, 1.0);
  llvm::SmallVector<ReferenceArray> gradients;
  CHECK(mlir::succeeded(interpret(*vjp, arguments, gradients)));
}

const std::string kMean = "reduction = #nn<reduction mean>";
const std::string kPool =
    "window = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, "
    "pad_low = array<i64: 0>, pad_high = array<i64: 0>, ceil_mode = false";
} // namespace

TEST_CASE("composite ops of empty tensors") {
  const std::string norm = "{axis = 1 : i64, epsilon = 1.0e-5 : f64}";
  const std::string geometry = "{strides = array<i64: 1>, dilations = array<i64: 1>, pad_low = "
                               "array<i64: 1>, pad_high = array<i64: 1>, groups = 1 : i64}";
  for (const Row &row : std::vector<Row>{
           {"gelu %0 {form = #nn<gelu_form erf>}", {"0x3xf32"}, {"0x3xf32"}},
           {"prelu %0, %1", {"2x0xf32", "0xf32"}, {"2x0xf32"}},
           {"softmax %0 {dimension = 1 : i64}", {"0x3xf32"}, {"0x3xf32"}},
           {"softmax %0 {dimension = 1 : i64}", {"3x0xf32"}, {"3x0xf32"}},
           {"log_softmax %0 {dimension = 1 : i64}", {"3x0xf32"}, {"3x0xf32"}},
           {"layer_norm %0 scale %1 " + norm, {"0x3xf32", "3xf32"}, {"0x3xf32"}},
           {"layer_norm %0 scale %1 " + norm, {"3x0xf32", "0xf32"}, {"3x0xf32"}},
           {"rms_norm %0 " + norm, {"3x0xf32"}, {"3x0xf32"}},
           {"group_norm %0, %1, %2 {groups = 1 : i64, epsilon = 0.0}",
            {"2x0x3xf32", "0xf32", "0xf32"},
            {"2x0x3xf32"}},
           {"instance_norm %0, %1, %2 {epsilon = 0.0}",
            {"0x2x3xf32", "2xf32", "2xf32"},
            {"0x2x3xf32"}},
           {"batch_norm_training %0, %1, %2, %3, %4 {epsilon = 1.0e-5 : f64, momentum = 0.1, "
            "unbiased = true}",
            {"0x2xf32", "2xf32", "2xf32", "2xf32", "2xf32"},
            {"0x2xf32", "2xf32", "2xf32"}},
           {"matmul %0, %1", {"2x0xf32", "0x3xf32"}, {"2x3xf32"}},
           {"matmul %0, %1", {"0x2x3xf32", "1x3x4xf32"}, {"0x2x4xf32"}},
           {"linear %0, %1 bias %2 {transpose_w = true}",
            {"0x3xf32", "4x3xf32", "4xf32"},
            {"0x4xf32"}},
           {"convolution %0, %1 " + geometry, {"0x2x4xf32", "3x2x3xf32"}, {"0x3x4xf32"}},
           {"max_pool %0 {" + kPool + "}", {"0x2x4xf32"}, {"0x2x2xf32"}},
           {"average_pool %0 {count_include_pad = true, " + kPool + "}",
            {"2x0x4xf32"},
            {"2x0x2xf32"}},
           {"mse_loss %0, %1 {" + kMean + "}", {"0xf32", "0xf32"}, {"f32"}},
           {"bce_with_logits %0, %1 {" + kMean + "}", {"0xf32", "0xf32"}, {"f32"}},
           {"cross_entropy %0, %1 {label_smoothing = 0.0, " + kMean + "}",
            {"0x3xf32", "0xi64"},
            {"f32"}},
           {"attention %0, %1, %2 {scale = 1.0, causal = true}",
            {"1x2x0x4xf32", "1x2x3x4xf32", "1x2x3x4xf32"},
            {"1x2x0x4xf32"}},
           {"attention %0, %1, %2 {scale = 1.0, causal = false}",
            {"1x2x3x4xf32", "1x2x0x4xf32", "1x2x0x4xf32"},
            {"1x2x3x4xf32"}},
           {"dropout %0, %1 {ratio = 0.5, stream = 0 : i64}", {"0xf32", "2xi64"}, {"0xf32"}},
       })
    runBothWays(row);
}

TEST_CASE("the mean of no losses is not a number, as in PyTorch") {
  Program mse(text("mse_loss %0, %1 {" + kMean + "}", {"0xf32", "0xf32"}, {"f32"}));
  CHECK(std::isnan(mse.run({ReferenceArray({0}), ReferenceArray({0})})[0].values[0]));
}

TEST_CASE("composite ops of scalars") {
  for (const Row &row : std::vector<Row>{
           {"silu %0", {"f32"}, {"f32"}},
           {"prelu %0, %1", {"f32", "f32"}, {"f32"}},
           {"dropout %0, %1 {ratio = 0.5, stream = 0 : i64}", {"f32", "2xi64"}, {"f32"}},
           {"mse_loss %0, %1 {" + kMean + "}", {"f32", "f32"}, {"f32"}},
           {"bce_with_logits %0, %1 weight %2 {" + kMean + "}", {"f32", "f32", "f32"}, {"f32"}},
           {"matmul %0, %1", {"3xf32", "3xf32"}, {"f32"}},
       })
    runBothWays(row);
}

TEST_CASE("a class out of range is an error in the data, an ignored one is not") {
  auto loss = [](const std::string &attributes) {
    return text("cross_entropy %0, %1 {" + attributes + "label_smoothing = 0.0, " + kMean + "}",
                {"2x3xf32", "2xi64"}, {"f32"});
  };
  ReferenceArray scores({2, 3}, 0.5);
  for (double label : {3.0, -1.0, -100.0})
    CHECK(Program(loss("")).failure({scores, array({0, label})}) != "");
  CHECK(Program(loss("ignore_index = -100 : i64, ")).failure({scores, array({0, -1})}) != "");
  CHECK(Program(loss("ignore_index = -100 : i64, ")).failure({scores, array({0, -100})}) == "");
  CHECK(Program(loss("ignore_index = 255 : i64, ")).failure({scores, array({0, 255})}) == "");
}

TEST_CASE("the momentum of batch norm changes only the running statistics") {
  auto program = [](const std::string &momentum) {
    return text("batch_norm_training %0, %1, %2, %3, %4 {epsilon = 1.0e-5 : f64, momentum = " +
                    momentum + ", unbiased = true}",
                {"4x2xf64", "2xf64", "2xf64", "2xf64", "2xf64"}, {"4x2xf64", "2xf64", "2xf64"});
  };
  std::vector<ReferenceArray> arguments = {array({4, 2}, {1, 2, 3, 4, 5, 6, 8, 9}), array({1, 2}),
                                           array({0, 1}), array({10, 20}), array({30, 40})};
  auto none = Program(program("0.0")).run(arguments), all = Program(program("1.0")).run(arguments);
  CHECK(none[0].values == all[0].values);
  CHECK(none[1].values == std::vector<double>{10, 20});
  CHECK(none[2].values == std::vector<double>{30, 40});
  CHECK(all[1].values == std::vector<double>{4.25, 5.25});
}

TEST_CASE("batch norm of one element a channel gives its bias and stays finite") {
  Program program(text("batch_norm_training %0, %1, %2, %3, %4 {epsilon = 1.0e-5 : f64, momentum "
                       "= 0.5, unbiased = true}",
                       {"1x2xf64", "2xf64", "2xf64", "2xf64", "2xf64"},
                       {"1x2xf64", "2xf64", "2xf64"}));
  auto results = program.run(
      {array({1, 2}, {7, -7}), array({2, 2}), array({0.25, 0.5}), array({1, 1}), array({1, 1})});
  CHECK(results[0].values == std::vector<double>{0.25, 0.5});
  CHECK(results[2].values == std::vector<double>{0.5, 0.5});
}

TEST_CASE("the gradient of an LSTM takes one product for each weight, not one a step") {
  Program program(
      text("lstm %0, %1, %2 {direction = #nn<rnn_direction forward>, batch_first = false}",
           {"5x2x3xf64", "1x8x3xf64", "1x8x2xf64"}, {"5x1x2x2xf64", "1x2x2xf64", "1x2x2xf64"}));
  auto vjp = buildVjp(program.function());
  REQUIRE(vjp);
  int products = 0;
  vjp->walk([&](prim::DotGeneralOp) { ++products; });
  // The forward's projection and steps, the backward's steps, dx, dw and dr.
  CHECK(products == 1 + 5 + 5 + 3);
}
