// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GELU by erf and by tanh differ by 5e-4: an attribute that is not read, or a pattern that takes
// one for the other, is not seen in one layer and ruins twelve.
#include "Trained.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace accc;
using namespace accc::test;

namespace {
constexpr double kPi = 3.14159265358979323846;

double byErf(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2))); }
double byErfSlope(double x) {
  return 0.5 * (1 + std::erf(x / std::sqrt(2))) + x * std::exp(-x * x / 2) / std::sqrt(2 * kPi);
}
double byTanh(double x, double cubic = 0.044715) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / kPi) * (x + cubic * x * x * x)));
}
double byTanhSlope(double x, double cubic = 0.044715) {
  double c = std::sqrt(2 / kPi), t = std::tanh(c * (x + cubic * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * cubic * x * x);
}

ReferenceArray points() {
  ReferenceArray x({121});
  for (int64_t i = 0; i < 121; ++i)
    x.values[i] = static_cast<double>(static_cast<float>(0.1 * static_cast<double>(i - 60)));
  return x;
}

template <typename Value, typename Slope>
void check(const std::string &body, Value value, Slope slope, int opset = 17) {
  INFO(body);
  const ReferenceArray x = points();
  Training training = trainAsInterpreted({"g (float[121] x) => (float[121] y) { " + body + " }",
                                          {{"x", x}},
                                          {},
                                          {{"y", filled({121}, 1)}},
                                          {},
                                          opset});
  std::vector<double> values, slopes;
  for (double at : x.values) {
    values.push_back(value(at));
    slopes.push_back(slope(at));
  }
  checkNear(training.output("y"), values, 1e-6);
  checkNear(training.gradient("x"), slopes, 2e-6);
}

std::string constant(const std::string &name, const std::string &value) {
  return name + " = Constant <value = float {" + value + "}> () ";
}
} // namespace

TEST_CASE("gelu_forms: the operator's attribute") {
  check("y = Gelu(x)", byErf, byErfSlope, 20);
  check("y = Gelu <approximate = \"none\"> (x)", byErf, byErfSlope, 20);
  check(
      "y = Gelu <approximate = \"tanh\"> (x)", [](double x) { return byTanh(x); },
      [](double x) { return byTanhSlope(x); }, 20);
}

TEST_CASE("gelu_forms: as exporters write it by parts") {
  const std::string erf =
      constant("r", "1.4142135") + constant("one", "1.0") + constant("half", "0.5");
  check(erf + "a = Div(x, r) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, half)", byErf,
        byErfSlope);
  check(erf + "a = Div(x, r) b = Erf(a) c = Add(one, b) d = Mul(half, x) y = Mul(c, d)", byErf,
        byErfSlope);
  const std::string tanh = constant("cubic", "0.044715") + constant("c", "0.7978846") +
                           constant("one", "1.0") + constant("half", "0.5") +
                           constant("three", "3.0");
  auto value = [](double x) { return byTanh(x); };
  auto slope = [](double x) { return byTanhSlope(x); };
  check(tanh + "p = Pow(x, three) q = Mul(p, cubic) r = Add(x, q) s = Mul(r, c) t = Tanh(s) u = "
               "Add(t, one) "
               "v = Mul(x, half) y = Mul(v, u)",
        value, slope);
  check(tanh + "xx = Mul(x, x) p = Mul(xx, x) q = Mul(cubic, p) r = Add(q, x) s = Mul(c, r) t = "
               "Tanh(s) u = Add(one, t) "
               "v = Mul(half, x) y = Mul(v, u)",
        value, slope);
}

TEST_CASE("gelu_forms: what is nearly a GELU stays what it is") {
  const std::string common =
      constant("one", "1.0") + constant("half", "0.5") + constant("three", "3.0");
  // Constants that differ in the fourth digit, and the sigmoid form.
  check(
      common + constant("cubic", "0.0448") + constant("c", "0.7978846") +
          "p = Pow(x, three) q = Mul(p, cubic) r = Add(x, q) s = Mul(r, c) t = Tanh(s) u = Add(t, "
          "one) "
          "v = Mul(x, half) y = Mul(v, u)",
      [](double x) { return byTanh(x, 0.0448); }, [](double x) { return byTanhSlope(x, 0.0448); });
  check(
      common + constant("r", "1.415") +
          "a = Div(x, r) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, half)",
      [](double x) { return 0.5 * x * (1 + std::erf(x / 1.415)); },
      [](double x) {
        double z = x / 1.415;
        return 0.5 * (1 + std::erf(z)) + x / 1.415 * std::exp(-z * z) / std::sqrt(kPi);
      });
  auto sigmoid = [](double x) { return 1 / (1 + std::exp(-1.702 * x)); };
  check(
      constant("k", "1.702") + "a = Mul(x, k) b = Sigmoid(a) y = Mul(x, b)",
      [&](double x) { return x * sigmoid(x); },
      [&](double x) { return sigmoid(x) + 1.702 * x * sigmoid(x) * (1 - sigmoid(x)); });
}
