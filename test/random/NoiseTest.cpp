// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What rounding is taken to change, and what it cannot change.
#include "Noise.h"

#include "driver/Pipeline.h"
#include "ir/interfaces/ReferenceValues.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

constexpr int kRuns = 20;

/// The results of some runs of @f on numbers with many digits.
std::vector<SmallVector<ReferenceArray>> runsOf(llvm::StringRef text,
                                                decltype(interpretWithNoise) &interpretNoisily) {
  MLIRContext context;
  registerDialects(context);
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  REQUIRE(module);
  auto function = module->lookupSymbol<func::FuncOp>("f");
  SmallVector<ReferenceArray> arguments;
  for (Type type : function.getArgumentTypes()) {
    ReferenceArray &array = arguments.emplace_back(cast<RankedTensorType>(type).getShape());
    for (auto [i, value] : llvm::enumerate(array.values))
      value = static_cast<float>(1.0 / static_cast<double>(i + 3));
  }
  Random random(1);
  std::vector<SmallVector<ReferenceArray>> runs(kRuns);
  for (auto &results : runs)
    REQUIRE(succeeded(interpretNoisily(function, arguments, results, random, {.units = 4})));
  return runs;
}

std::vector<SmallVector<ReferenceArray>> noisyRuns(const std::string &text) {
  return runsOf(text, interpretWithNoise);
}

/// The same of floats of 64 bits, which have 48 bits of precision here.
std::string asDouble(std::string text) {
  for (size_t at; (at = text.find("f32")) != std::string::npos;)
    text.replace(at, 3, "f64");
  return text;
}

} // namespace

TEST_CASE("noise: an inexact result differs from run to run, and is a number of its type") {
  std::string text = R"(func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = prim.mul %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %1 = prim.mul %0, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return %1 : tensor<8xf32> })";
  bool isDouble = GENERATE(false, true);
  int bits = isDouble ? 48 : 24;
  auto runs = noisyRuns(isDouble ? asDouble(text) : text);
  int different = 0;
  for (const auto &results : runs)
    for (auto [value, first] : llvm::zip_equal(results[0].values, runs[0][0].values)) {
      different += value != first;
      int exponent = 0;
      double units = std::ldexp(std::frexp(value, &exponent), bits);
      CHECK(units == std::nearbyint(units));
      CHECK(std::abs(value - first) <= std::ldexp(20, -bits) * first);
    }
  CHECK(different > kRuns);
}

// A gradient that finds the greatest of some products by comparing them with it.
TEST_CASE("noise: a maximum of inexact numbers is one of them") {
  std::string text = R"(func.func @f(%x: tensor<8xf32>) -> tensor<8xi1> {
    %0 = prim.mul %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %1 = prim.mul %0, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %2 = prim.reduce max %1 {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
    %3 = prim.broadcast %2 {dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %4 = prim.compare eq %1, %3 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    return %4 : tensor<8xi1> })";
  for (const auto &results : noisyRuns(GENERATE(false, true) ? asDouble(text) : text)) {
    CHECK(results[0].values[0] == 1);
    CHECK(llvm::count(results[0].values, 1.0) == 1);
  }
}

// 1/6 six times, less 1: the sum is zero but for rounding, which is what it consists of.
TEST_CASE("noise: a sum that cancels is as uncertain as its terms") {
  double most = 0;
  for (const auto &results : noisyRuns(R"(func.func @f(%x: tensor<f32>) -> tensor<f32> {
    %c = prim.constant dense<[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]> : tensor<6xf32>
    %1 = prim.constant dense<1.0> : tensor<6xf32>
    %6 = prim.constant dense<6.0> : tensor<6xf32>
    %s = prim.div %1, %6 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %d = prim.sub %s, %c : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %0 = prim.reduce sum %d {dimensions = array<i64: 0>} : (tensor<6xf32>) -> tensor<f32>
    return %0 : tensor<f32> })"))
    most = std::max(most, std::abs(results[0].values[0]));
  CHECK(most > 0x1p-27);
  CHECK(most < 0x1p-19);
}

// 1e20 * 1e20 * 0 is zero in one order, and infinity times zero in another.
TEST_CASE("noise: a product whose order decides whether it overflows is no number") {
  for (const auto &results :
       noisyRuns(R"(func.func @f(%x: tensor<8xf32>) -> (tensor<f32>, tensor<f32>) {
    %large = prim.constant dense<1.0e20> : tensor<2xf32>
    %zero = prim.constant dense<0.0> : tensor<1xf32>
    %0 = prim.concatenate %large, %zero {dimension = 0 : i64} : (tensor<2xf32>, tensor<1xf32>) -> tensor<3xf32>
    %1 = prim.reduce prod %0 {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
    %2 = prim.reduce prod %x {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
    return %1, %2 : tensor<f32>, tensor<f32> })")) {
    CHECK(std::isnan(results[0].values.front()));
    CHECK(std::isfinite(results[1].values.front()));
  }
}

// What two kernels add up, each in its own order, are not the same bits; maxima and exact sums are.
TEST_CASE("noise: kernels that add the same in other orders") {
  std::string text = "func.func @f(%x: tensor<8xf32>) -> (";
  for (int i = 0; i < 6; ++i)
    text += i ? ", tensor<f32>" : "tensor<f32>";
  text += ") {\n";
  for (const char *name : {"a", "b"})
    text +=
        std::string("%") + name +
        R"(:3 = prim.fusion reduce "sums" (%x) : (tensor<8xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
      ^bb0(%i: tensor<8xf32>):
        %sum = prim.reduce sum %i {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
        %max = prim.reduce max %i {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
        %one = prim.constant dense<0.5> : tensor<8xf32>
        %half = prim.reduce sum %one {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
        prim.yield %sum, %max, %half : tensor<f32>, tensor<f32>, tensor<f32>
      }
)";
  text += "return %a#0, %a#1, %a#2, %b#0, %b#1, %b#2 : tensor<f32>, tensor<f32>, tensor<f32>, "
          "tensor<f32>, tensor<f32>, tensor<f32> }";
  int different = 0;
  for (const auto &results : runsOf(text, interpretInOtherOrders)) {
    different += results[0].values != results[3].values;
    CHECK(std::abs(results[0].values[0] - results[3].values[0]) < 16 * 0x1p-24);
    CHECK(results[1].values == results[4].values);
    CHECK(results[2].values == results[5].values);
    CHECK(results[2].values[0] == 4);
  }
  CHECK(different > kRuns / 2);
}
