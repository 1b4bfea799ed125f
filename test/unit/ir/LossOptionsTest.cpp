// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses under every combination of their options: values against the formula written down plainly,
// gradients of every operand against finite differences.
#include "Program.h"
#include "reference/interpreter/GradientCheck.h"

#include "llvm/ADT/StringExtras.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <optional>

using namespace accc;
using namespace accc::test;

namespace {

using Extents = llvm::SmallVector<int64_t>;

const std::vector<std::string> kReductions = {"none", "sum", "mean"};
/// Scores of one position, of some, and of some with a dimension more.
const std::vector<Extents> kScores = {{3}, {4, 3}, {2, 3, 2}};
const std::vector<std::optional<int64_t>> kIgnored = {std::nullopt, -100, 1};

/// Numbers in (low, high), no two alike.
ReferenceArray numbers(llvm::ArrayRef<int64_t> shape, double low, double high, double start) {
  ReferenceArray result(shape);
  for (double &value : result.values) {
    start = std::fmod(start + 0.6180339887498949, 1.0);
    value = low + (high - low) * start;
  }
  return result;
}

std::string typeOf(llvm::ArrayRef<int64_t> shape, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + element + ">";
}

/// One op over arguments of the given types.
std::string program(const std::string &op, const std::vector<std::string> &types,
                    const std::string &result) {
  std::vector<std::string> parameters;
  for (size_t i = 0; i < types.size(); ++i)
    parameters.push_back("%" + std::to_string(i) + ": " + types[i]);
  return "func.func @f(" + llvm::join(parameters, ", ") + ") -> " + result + " {\n  %r = nn." + op +
         " : (" + llvm::join(types, ", ") + ") -> " + result + "\n  return %r : " + result +
         "\n}\n";
}

/// A loss of classes, with what may be left out of it.
struct ClassLoss {
  Extents shape; // [C], [N, C] or [N, C, d]
  bool logits;   // cross_entropy, else nll_loss
  bool probabilities, weighted;
  std::optional<int64_t> ignored;
  double smoothing;
  std::string reduction;

  int64_t classes() const { return shape.size() == 1 ? shape[0] : shape[1]; }
  Extents positions() const {
    Extents result(shape);
    result.erase(result.begin() + (shape.size() == 1 ? 0 : 1));
    return result;
  }

  std::string text() const {
    std::string options = "reduction = #nn<reduction " + reduction + ">";
    if (ignored)
      options += ", ignore_index = " + std::to_string(*ignored) + " : i64";
    if (logits)
      options += ", label_smoothing = " + std::to_string(smoothing) + " : f64";
    std::vector<std::string> types = {
        typeOf(shape, "f64"), probabilities ? typeOf(shape, "f64") : typeOf(positions(), "i64")};
    if (weighted)
      types.push_back(typeOf({classes()}, "f64"));
    return program(std::string(logits ? "cross_entropy" : "nll_loss") + " %0, %1 " +
                       (weighted ? "weight %2 " : "") + "{" + options + "}",
                   types, reduction == "none" ? typeOf(positions(), "f64") : "tensor<f64>");
  }

  std::vector<ReferenceArray> arguments() const {
    std::vector<ReferenceArray> result = {numbers(shape, -2, 2, 0.1)};
    if (probabilities) {
      result.push_back(numbers(shape, 0.1, 0.9, 0.4));
    } else {
      ReferenceArray target(positions());
      for (int64_t i = 0; i < target.size(); ++i)
        target.values[i] = static_cast<double>((i * 2 + 2) % classes());
      // The first is ignored, and more where the index is a class.
      if (ignored && target.size() > 1)
        target.values[0] = static_cast<double>(*ignored);
      result.push_back(target);
    }
    if (weighted)
      result.push_back(numbers({classes()}, 0.5, 1.5, 0.7));
    return result;
  }

  /// The formula of the op's description, position by position.
  std::vector<double> expected(const std::vector<ReferenceArray> &a) const {
    int64_t c = classes(), count = ReferenceArray::count(positions());
    int64_t inner = shape.size() == 3 ? shape[2] : 1;
    std::vector<double> losses;
    double divisor = 0, sum = 0;
    for (int64_t p = 0; p < count; ++p) {
      auto at = [&](int64_t k) {
        return static_cast<size_t>((p / inner * c + k) * inner + p % inner);
      };
      auto weight = [&](int64_t k) { return weighted ? a[2].values[k] : 1.0; };
      double total = 0;
      for (int64_t k = 0; k < c; ++k)
        total += std::exp(a[0].values[at(k)]);
      auto negativeLog = [&](int64_t k) {
        return logits ? std::log(total) - a[0].values[at(k)] : -a[0].values[at(k)];
      };
      double loss = 0;
      auto target = probabilities ? -1 : static_cast<int64_t>(a[1].values[p]);
      bool counts = probabilities || !ignored || target != *ignored;
      for (int64_t k = 0; k < c && counts; ++k) {
        double share = probabilities ? a[1].values[at(k)] : k == target;
        double smoothed = (1 - smoothing) * share + smoothing / static_cast<double>(c);
        loss += weight(k) * smoothed * negativeLog(k);
      }
      losses.push_back(loss);
      sum += loss;
      divisor += !counts ? 0 : probabilities ? 1 : weight(target);
    }
    return reduction == "none" ? losses
                               : std::vector<double>{reduction == "sum" ? sum : sum / divisor};
  }

  void check() const {
    INFO(text());
    Program loss(text());
    std::vector<ReferenceArray> values = arguments();
    CHECK(difference(loss.run(values)[0].values, expected(values), 1e-9) == "");
    CHECK(checkGradient(loss.function(), values) == "");
  }
};

} // namespace

TEST_CASE("cross_entropy under every combination of its options") {
  for (const Extents &shape : kScores)
    for (bool probabilities : {false, true})
      for (bool weighted : {false, true})
        for (std::optional<int64_t> ignored : kIgnored)
          for (double smoothing : {0.0, 0.3, 1.0})
            for (const std::string &reduction : kReductions)
              if (!probabilities || !ignored)
                ClassLoss{shape, true, probabilities, weighted, ignored, smoothing, reduction}
                    .check();
}

TEST_CASE("nll_loss under every combination of its options") {
  for (const Extents &shape : kScores)
    for (bool weighted : {false, true})
      for (std::optional<int64_t> ignored : kIgnored)
        for (const std::string &reduction : kReductions)
          ClassLoss{shape, false, false, weighted, ignored, 0.0, reduction}.check();
}

namespace {

using Formula = double (*)(double x, double z, double weight, double posWeight);

/// A loss of elements [2, 3], with weights of the given shapes (none, whole, or broadcast).
void checkElementLoss(const std::string &name, const std::string &options,
                      const std::vector<std::pair<std::string, Extents>> &weights, double low,
                      double high, Formula formula) {
  const Extents shape = {2, 3};
  for (const std::string &reduction : kReductions) {
    std::string op = name + " %0, %1";
    std::vector<std::string> types(2, typeOf(shape, "f64"));
    std::vector<ReferenceArray> values = {numbers(shape, low, high, 0.3),
                                          numbers(shape, 0.1, 0.9, 0.8)};
    double used[2][6]; // weight and pos_weight of each element
    std::fill(&used[0][0], &used[0][0] + 12, 1.0);
    for (const auto &[keyword, ofShape] : weights) {
      op += " " + keyword + " %" + std::to_string(types.size());
      types.push_back(typeOf(ofShape, "f64"));
      ReferenceArray w = numbers(ofShape, 0.5, 1.5, 0.2 + 0.1 * static_cast<double>(types.size()));
      for (int64_t i = 0; i < 6; ++i) {
        int64_t row = ofShape.size() < 2 || ofShape[0] == 1 ? 0 : i / 3;
        int64_t column = ofShape.empty() || ofShape.back() == 1 ? 0 : i % 3;
        used[keyword == "pos_weight"][i] =
            w.values[static_cast<size_t>(row * (ofShape.empty() ? 1 : ofShape.back()) + column)];
      }
      values.push_back(w);
    }
    std::string text =
        program(op + " {" + options + "reduction = #nn<reduction " + reduction + ">}", types,
                reduction == "none" ? types[0] : "tensor<f64>");
    std::vector<double> expected;
    double sum = 0;
    for (size_t i = 0; i < 6; ++i) {
      expected.push_back(formula(values[0].values[i], values[1].values[i], used[0][i], used[1][i]));
      sum += expected.back();
    }
    if (reduction != "none")
      expected = {reduction == "sum" ? sum : sum / 6};
    INFO(text);
    Program loss(text);
    CHECK(difference(loss.run(values)[0].values, expected, 1e-9) == "");
    CHECK(checkGradient(loss.function(), values) == "");
  }
}

} // namespace

TEST_CASE("bce has PyTorch's bounds where x is 0 or 1") {
  std::string text = program("bce %0, %1 {reduction = #nn<reduction sum>}",
                             {"tensor<2xf64>", "tensor<2xf64>"}, "tensor<f64>");
  Program loss(text);
  auto vjp = buildVjp(loss.function());
  REQUIRE(vjp);
  // A logarithm is at least -100, and x (1 - x) at least 1e-12.
  std::vector<ReferenceArray> values = {array({0, 1}), array({0.75, 0.25})};
  CHECK(loss.run(values)[0].values == std::vector<double>{150});
  llvm::SmallVector<ReferenceArray> gradients;
  values.push_back(array({}, {1}));
  REQUIRE(mlir::succeeded(interpret(*vjp, values, gradients)));
  CHECK(difference(gradients[0].values, {-0.75e12, 0.75e12}, 1e-9) == "");
  CHECK(difference(gradients[1].values, {100, -100}, 1e-9) == "");
}

TEST_CASE("losses of elements under every combination of their options") {
  checkElementLoss("mse_loss", "", {}, -2, 2,
                   [](double x, double z, double, double) { return (x - z) * (x - z); });
  checkElementLoss("l1_loss", "", {}, -2, 2,
                   [](double x, double z, double, double) { return std::abs(x - z); });
  checkElementLoss("smooth_l1_loss", "beta = 0.75 : f64, ", {}, -2, 2,
                   [](double x, double z, double, double) {
                     double d = std::abs(x - z);
                     return d < 0.75 ? d * d / 1.5 : d - 0.375;
                   });
  checkElementLoss("smooth_l1_loss", "beta = 0.0 : f64, ", {}, -2, 2,
                   [](double x, double z, double, double) { return std::abs(x - z); });
  checkElementLoss("huber_loss", "delta = 0.75 : f64, ", {}, -2, 2,
                   [](double x, double z, double, double) {
                     double d = std::abs(x - z);
                     return d < 0.75 ? d * d / 2 : 0.75 * (d - 0.375);
                   });
  const std::vector<Extents> shapes = {{2, 3}, {3}, {2, 1}, {}};
  for (const auto &shape : shapes) {
    auto bce = [](double x, double z, double weight, double) {
      return -weight * (z * std::log(x) + (1 - z) * std::log(1 - x));
    };
    auto logits = [](double x, double z, double weight, double posWeight) {
      return weight *
             (posWeight * z * std::log1p(std::exp(-x)) + (1 - z) * std::log1p(std::exp(x)));
    };
    checkElementLoss("bce", "", {}, 0.1, 0.9, bce);
    checkElementLoss("bce", "", {{"weight", shape}}, 0.1, 0.9, bce);
    checkElementLoss("bce_with_logits", "", {}, -3, 3, logits);
    checkElementLoss("bce_with_logits", "", {{"weight", shape}}, -3, 3, logits);
    checkElementLoss("bce_with_logits", "", {{"pos_weight", shape}}, -3, 3, logits);
    for (const auto &other : shapes)
      checkElementLoss("bce_with_logits", "", {{"weight", shape}, {"pos_weight", other}}, -3, 3,
                       logits);
  }
}
