// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Special functions over their whole range: within a bound of mpmath's values in double precision,
// rounded once in single precision; their poles, limits and domains.
#include "Program.h"

#include "llvm/ADT/STLExtras.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace accc;
using namespace accc::test;

namespace {
struct Golden {
  const char *op, *attributes;
  /// The greatest error, as a part of the value, or of `scale` where that is greater: near zeros
  /// that are no numbers of the type.
  double bound, scale;
  std::vector<double> arguments, values;
};

const Golden kGoldens[] = {
#include "SpecialGoldens.inc"
};

std::vector<double> evaluate(const std::string &op, const std::string &attributes,
                             const std::string &element, const std::vector<double> &arguments) {
  std::string type = "tensor<" + std::to_string(arguments.size()) + "x" + element + ">";
  Program program("func.func @f(%x: " + type + ") -> " + type + " {\n  %r = nn." + op + " %x " +
                  attributes + " : (" + type + ") -> " + type + "\n  return %r : " + type + "\n}");
  return program.run({array(arguments)}).front().values;
}

void check(const Golden &golden, const std::string &element, double bound) {
  INFO(golden.op << " " << golden.attributes << " " << element);
  std::vector<double> found = evaluate(golden.op, golden.attributes, element, golden.arguments);
  for (auto [x, y, want] : llvm::zip_equal(golden.arguments, found, golden.values)) {
    INFO("of " << x << ": " << y << ", not " << want);
    bool overflows = element == "f32" && y == static_cast<float>(want);
    CHECK((overflows || std::abs(y - want) <= bound * std::max(std::abs(want), golden.scale)));
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Edge {
  const char *op, *attributes;
  std::vector<double> arguments, values;
};

// PyTorch's, but for trigamma at its poles, where PyTorch's sine of a rounded angle is not 0.
const Edge kEdges[] = {
    {"lgamma",
     "",
     {0, -0.0, -1, -2, 1, 2, kInfinity, -kInfinity, kNaN, -1e20, 1e308},
     {kInfinity, kInfinity, kInfinity, kInfinity, 0, 0, kInfinity, kInfinity, kNaN, kInfinity,
      kInfinity}},
    {"polygamma",
     "{order = 0 : i64}",
     {0, -0.0, -1, kInfinity, -kInfinity, kNaN},
     {-kInfinity, kInfinity, kNaN, kInfinity, kNaN, kNaN}},
    {"polygamma",
     "{order = 1 : i64}",
     {0, -1, -7, kInfinity, kNaN},
     {kInfinity, kInfinity, kInfinity, 0, kNaN}},
    {"polygamma", "{order = 2 : i64}", {0, -1, kInfinity}, {-kInfinity, -kInfinity, 0}},
    {"erfc", "", {0, -0.0, kInfinity, -kInfinity, 30, kNaN}, {1, 1, 0, 2, 0, kNaN}},
    {"erfcx", "", {0, kInfinity, -kInfinity, -30, kNaN}, {1, 0, kInfinity, kInfinity, kNaN}},
    {"erfinv", "", {0, 1, -1, 1.5, -2, kNaN}, {0, kInfinity, -kInfinity, kNaN, kNaN, kNaN}},
    {"ndtri", "", {0, 1, 0.5, -0.1, 1.1, kNaN}, {-kInfinity, kInfinity, 0, kNaN, kNaN, kNaN}},
    {"log_ndtr", "", {kInfinity, -kInfinity, 50, kNaN}, {0, -kInfinity, 0, kNaN}},
    {"entr", "", {0, 1, -1, kInfinity, kNaN}, {0, 0, -kInfinity, -kInfinity, kNaN}},
    {"bessel_i", "{order = 0 : i64, scaled = false}", {0, 800, kNaN}, {1, kInfinity, kNaN}},
    {"bessel_i", "{order = 0 : i64, scaled = true}", {0, kInfinity, kNaN}, {1, 0, kNaN}},
    {"bessel_i", "{order = 1 : i64, scaled = false}", {0, -800}, {0, -kInfinity}},
    {"bessel_i", "{order = 1 : i64, scaled = true}", {0, -kInfinity}, {0, 0}},
};
} // namespace

TEST_CASE("special functions in double precision are within their bounds") {
  for (const Golden &golden : kGoldens)
    check(golden, "f64", golden.bound);
}

TEST_CASE("special functions in single precision are rounded once") {
  for (const Golden &golden : kGoldens)
    check(golden, "f32", 0x1.0001p-24 + golden.bound);
}

TEST_CASE("poles and limits of special functions") {
  for (const Edge &edge : kEdges) {
    INFO(edge.op << " " << edge.attributes);
    std::vector<double> found = evaluate(edge.op, edge.attributes, "f64", edge.arguments);
    for (auto [x, y, want] : llvm::zip_equal(edge.arguments, found, edge.values)) {
      INFO("of " << x << ": " << y << ", not " << want);
      CHECK((y == want || (std::isnan(y) && std::isnan(want))));
    }
  }
}
