// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random composite ops: distributions, replay, and that a gradient sees the forward's mask.
#include "Program.h"
#include "reference/interpreter/GradientCheck.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace accc;
using namespace accc::test;

namespace {
std::string dropout(const std::string &ratio, int stream = 1) {
  return "func.func @f(%x: tensor<4000xf32>, %key: tensor<2xi64>) -> tensor<4000xf32> {\n"
         "  %y = nn.dropout %x, %key {ratio = " +
         ratio + ", stream = " + std::to_string(stream) +
         " : i64} : (tensor<4000xf32>, tensor<2xi64>) -> tensor<4000xf32>\n"
         "  return %y : tensor<4000xf32>\n}\n";
}
const ReferenceArray kOnes({4000}, 1.0);

/// A random op without operands but the key, of 4000 f64.
std::vector<double> draw(const std::string &op) {
  Program program("func.func @f(%key: tensor<2xi64>) -> tensor<4000xf64> {\n  %y = nn." + op +
                  " : (tensor<2xi64>) -> tensor<4000xf64>\n  return %y : tensor<4000xf64>\n}\n");
  return program.run({array({7, 3})})[0].values;
}

struct Distribution {
  double mean = 0, deviation = 0, least = INFINITY, greatest = -INFINITY;
  explicit Distribution(const std::vector<double> &values) {
    double n = static_cast<double>(values.size());
    for (double value : values) {
      mean += value / n;
      least = std::min(least, value);
      greatest = std::max(greatest, value);
    }
    for (double value : values)
      deviation += (value - mean) * (value - mean) / n;
    deviation = std::sqrt(deviation);
  }
};
} // namespace

TEST_CASE("dropout keeps its rate and its mean") {
  Program program(dropout("0.25"));
  std::vector<double> y = program.run({kOnes, array({42, 0})})[0].values;
  double kept = 0;
  for (double value : y) {
    CHECK((value == 0.0 || std::abs(value - 4.0 / 3.0) < 1e-6));
    kept += value != 0.0;
  }
  // Five standard deviations of a binomial of 4000.
  CHECK(std::abs(kept / 4000 - 0.75) < 5 * std::sqrt(0.25 * 0.75 / 4000));
}

TEST_CASE("dropout's gradient drops what the forward dropped, and other keys drop others") {
  Program program(dropout("0.5"));
  auto vjp = buildVjp(program.function());
  REQUIRE(vjp);
  ReferenceArray key = array({42, 5});
  std::vector<double> forward = program.run({kOnes, key})[0].values;
  llvm::SmallVector<ReferenceArray> backward;
  REQUIRE(mlir::succeeded(interpret(*vjp, {kOnes, key, kOnes}, backward)));
  CHECK(backward[0].values == forward);

  CHECK(program.run({kOnes, key})[0].values == forward);
  CHECK(program.run({kOnes, array({42, 6})})[0].values != forward);
  CHECK(program.run({kOnes, array({43, 5})})[0].values != forward);
  CHECK(Program(dropout("0.5", 2)).run({kOnes, key})[0].values != forward);
}

TEST_CASE("dropout of nothing and of everything") {
  CHECK(Program(dropout("0.0")).run({kOnes, array({1, 2})})[0].values == kOnes.values);
  CHECK(Program(dropout("1.0")).run({kOnes, array({1, 2})})[0].values ==
        std::vector<double>(4000, 0.0));
}

TEST_CASE("random numbers have their distributions") {
  Distribution uniform(draw("random_uniform %key {low = -1.0, high = 3.0, stream = 4 : i64}"));
  CHECK(uniform.least >= -1);
  CHECK(uniform.greatest < 3);
  CHECK(std::abs(uniform.mean - 1) < 0.1);
  CHECK(std::abs(uniform.deviation - 4 / std::sqrt(12.0)) < 0.05);

  Distribution normal(draw("random_normal %key {mean = 2.0, scale = 0.5, stream = 4 : i64}"));
  CHECK(std::abs(normal.mean - 2) < 0.04);
  CHECK(std::abs(normal.deviation - 0.5) < 0.03);
  CHECK(normal.greatest > 3);
}

TEST_CASE("bernoulli follows its probabilities") {
  Program program("func.func @f(%p: tensor<4000xf64>, %key: tensor<2xi64>) -> tensor<4000xi64> {\n"
                  "  %y = nn.bernoulli %p, %key {stream = 0 : i64} : (tensor<4000xf64>, "
                  "tensor<2xi64>) -> tensor<4000xi64>\n  return %y : tensor<4000xi64>\n}\n");
  for (double p : {0.0, 0.3, 1.0}) {
    ReferenceArray y = program.run({ReferenceArray({4000}, p), array({9, 1})})[0];
    CHECK(std::abs(Distribution(y.values).mean - p) <= 5 * std::sqrt(p * (1 - p) / 4000) + 1e-9);
  }
}
