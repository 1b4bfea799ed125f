// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivative rules: against finite differences, and at the points where formulas break.
#include "GradientRows.h"
#include "Program.h"
#include "reference/interpreter/GradientCheck.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace accc;
using namespace accc::test;

TEST_CASE("derivative rules agree with finite differences") {
  for (const GradientRow &row : gradientRows()) {
    INFO(row.text());
    Program program(row.text());
    CHECK(checkGradient(program.function(), row.arguments()) == "");
  }
}

TEST_CASE("a wrong derivative is noticed") {
  Program program("func.func @f(%0: tensor<3xf64>) -> tensor<3xf64> {\n"
                  "  %r = prim.sin %0 : (tensor<3xf64>) -> tensor<3xf64>\n"
                  "  return %r : tensor<3xf64>\n}\n");
  Program wrong("func.func @f(%0: tensor<3xf64>, %dy: tensor<3xf64>) -> tensor<3xf64> {\n"
                "  %c = prim.sin %0 : (tensor<3xf64>) -> tensor<3xf64>\n"
                "  %r = prim.mul %dy, %c : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>\n"
                "  return %r : tensor<3xf64>\n}\n");
  std::string problem =
      checkGradient(program.function(), wrong.function(), {array({0.1, 0.2, 0.3})});
  CHECK(problem.find("argument 0[0]") != std::string::npos);
}

static constexpr double inf = std::numeric_limits<double>::infinity();

namespace {
/// The gradients of an op at given points, for given cotangents.
struct PointRow {
  std::string op;
  std::vector<std::vector<double>> operands;
  std::vector<double> cotangent;
  std::vector<std::vector<double>> expected;
};
} // namespace

TEST_CASE("derivative rules at their singular points") {
  const std::vector<PointRow> rows = {
      // A cotangent of 0 (a select dropped the element) stays 0 where the derivative is infinite.
      {"sqrt", {{0, 0, 4}}, {0, 1, 1}, {{0, inf, 0.25}}},
      {"rsqrt", {{0, 4, inf}}, {0, 1, 1}, {{0, -0.0625, 0}}},
      {"log", {{0, 0, 2}}, {0, 1, 1}, {{0, inf, 0.5}}},
      {"log1p", {{-1, -1, 1}}, {0, 1, 1}, {{0, inf, 0.5}}},
      {"exp", {{1000, 0, -1000}}, {0, 1, 1}, {{0, 1, 0}}},
      {"expm1", {{1000, 0, -1000}}, {0, 1, 1}, {{0, 1, 0}}},
      {"asin", {{1, -1, 0}}, {0, 0, 1}, {{0, 0, 1}}},
      {"acos", {{1, -1, 0}}, {0, 0, 1}, {{0, 0, -1}}},
      {"abs", {{0, -0.0, -3}}, {1, 1, 1}, {{0, 0, -1}}},
      {"tanh", {{1000, -1000, 0}}, {1, 1, 1}, {{0, 0, 1}}},
      {"logistic", {{1000, -1000, 0}}, {1, 1, 1}, {{0, 0, 0.25}}},
      {"erf", {{1000, -1000, inf}}, {1, 1, 1}, {{0, 0, 0}}},
      {"atan", {{1e200, -inf, 0}}, {1, 1, 1}, {{0, 0, 1}}},
      {"div", {{1, 0, 1}, {0, 0, 2}}, {0, 0, 1}, {{0, 0, 0.5}, {0, 0, -0.25}}},
      {"pow", {{0, 0, 0}, {0, 2, 1}}, {1, 1, 1}, {{0, 0, 1}, {0, 0, 0}}},
      {"pow", {{0, -2, 0}, {-1, 0, 0.5}}, {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}},
      {"atan2", {{0, 1, 0}, {0, 0, 1}}, {1, 1, 1}, {{0, 0, 1}, {0, -1, 0}}},
      // Ties share.
      {"max", {{1, 2, 3}, {1, 3, 2}}, {2, 2, 2}, {{1, 0, 2}, {1, 2, 0}}},
      {"min", {{1, 2, 3}, {1, 3, 2}}, {2, 2, 2}, {{1, 2, 0}, {1, 0, 2}}},
  };
  for (const PointRow &row : rows) {
    GradientRow text{row.op, {}, {"3xf64"}};
    for (const std::vector<double> &values : row.operands)
      text.inputs.push_back({"3xf64", 0, 0, values});
    INFO(text.text());
    Program program(text.text());
    auto vjp = buildVjp(program.function());
    REQUIRE(vjp);
    std::vector<ReferenceArray> arguments = text.arguments();
    arguments.push_back(array(row.cotangent));
    llvm::SmallVector<ReferenceArray> found;
    REQUIRE(mlir::succeeded(interpret(*vjp, arguments, found)));
    REQUIRE(found.size() == row.expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      CHECK(difference(found[i].values, row.expected[i], 1e-12) == "");
  }
}

TEST_CASE("a power with a constant exponent") {
  for (double exponent : {2.0, 3.0, 0.0, -1.0, 1.0}) {
    std::string text = "func.func @f(%0: tensor<3xf64>) -> tensor<3xf64> {\n"
                       "  %b = prim.constant dense<" +
                       std::to_string(exponent) +
                       "> : tensor<3xf64>\n"
                       "  %r = prim.pow %0, %b : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>\n"
                       "  return %r : tensor<3xf64>\n}\n";
    INFO(text);
    Program program(text);
    CHECK(checkGradient(program.function(), {array({-2, 0.5, 3})}) == "");
  }
}
