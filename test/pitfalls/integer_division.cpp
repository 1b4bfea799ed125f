// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Division of integers, of both signs: rounded toward zero here and toward minus infinity there;
// remainders with the sign of the dividend or of the divisor; the least integer by -1.
#include "Trained.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace accc;
using namespace accc::test;

namespace {
const std::vector<double> kNumbers = {-7, -6, -5, -1, 0, 1, 5, 6, 7, 100, -100, 127, -128};
const std::vector<double> kDivisors = {-7, -3, -2, -1, 1, 2, 3, 7};

/// All pairs.
void grid(ReferenceArray &a, ReferenceArray &b) {
  a = ReferenceArray({static_cast<int64_t>(kNumbers.size() * kDivisors.size())});
  b = a;
  for (size_t i = 0; i < a.values.size(); ++i) {
    a.values[i] = kNumbers[i / kDivisors.size()];
    b.values[i] = kDivisors[i % kDivisors.size()];
  }
}

std::vector<double> mapped(const ReferenceArray &a, const ReferenceArray &b,
                           double (*rule)(double, double)) {
  std::vector<double> result;
  for (size_t i = 0; i < a.values.size(); ++i)
    result.push_back(rule(a.values[i], b.values[i]));
  return result;
}

double truncated(double a, double b) { return std::trunc(a / b); }
double signOfDividend(double a, double b) { return std::fmod(a, b); }
double signOfDivisor(double a, double b) { return a - b * std::floor(a / b); }

/// y = op(a, b) as the compiled code, and as the compiler where b is known, computes it.
void check(const std::string &type, const std::string &op, double (*rule)(double, double)) {
  INFO(type << " " << op);
  ReferenceArray a, b;
  grid(a, b);
  std::string shape = "[" + std::to_string(a.size()) + "]";
  std::string values;
  for (double value : b.values)
    values += (values.empty() ? "" : ", ") + std::to_string(static_cast<int64_t>(value));
  std::vector<double> expected = mapped(a, b, rule);
  if (type == "int8") // the least by -1 is itself, as integers wrap
    for (double &value : expected)
      value = value == 128 ? -128 : value;
  const std::string w = "w = Mul(x, x) ";
  Training given = train({"g (" + type + shape + " a, " + type + shape + " b, float[2] x) => (" +
                              type + shape + " y, float[2] w) { y = " + op + "(a, b) " + w + "}",
                          {{"x", filled({2}, 1)}},
                          {{"a", a}, {"b", b}}});
  INFO(given.error);
  checkEqual(given.output("y"), expected);
  Training known = train({"g (" + type + shape + " a, float[2] x) => (" + type + shape +
                              " y, float[2] w) { b = Constant <value = " + type + shape + " {" +
                              values + "}> () y = " + op + "(a, b) " + w + "}",
                          {{"x", filled({2}, 1)}},
                          {{"a", a}}});
  INFO(known.error);
  checkEqual(known.output("y"), expected);
}
} // namespace

TEST_CASE("integer_division: quotients are truncated, whatever the signs") {
  for (const char *type : {"int32", "int64", "int8"})
    check(type, "Div", truncated);
}

TEST_CASE(
    "integer_division: remainders have the sign of the divisor, or with fmod of the dividend") {
  for (const char *type : {"int32", "int64", "int8"}) {
    check(type, "Mod", signOfDivisor);
    check(type, "Mod <fmod = 1> ", signOfDividend);
  }
  check("float", "Mod <fmod = 1> ", signOfDividend);
}

TEST_CASE("integer_division: the least integer by -1, and division by zero, end no program") {
  const double kLeast = -2147483648.0;
  for (const char *op : {"Div", "Mod", "Mod <fmod = 1> "}) {
    INFO(op);
    Training training =
        train({"g (int32[40] a, int32[40] b, float[2] x) => (int32[40] y, float[2] w) { y = " +
                   std::string(op) + "(a, b) w = Mul(x, x) }",
               {{"x", filled({2}, 1)}},
               {{"a", filled({40}, kLeast)}, {"b", filled({40}, -1)}}});
    INFO(training.error);
    checkEqual(training.output("y"),
               std::vector<double>(40, op == std::string("Div") ? kLeast : 0));
    Training zero =
        train({"g (int32[40] a, int32[40] b, float[2] x) => (int32[40] y, float[2] w) { y = " +
                   std::string(op) + "(a, b) w = Mul(x, x) }",
               {{"x", filled({2}, 1)}},
               {{"a", filled({40}, 5)}, {"b", filled({40}, 0)}}});
    INFO(zero.error);
    checkEqual(zero.gradient("x"), zero.library.at("grad_step grad.x").values);
  }
}
