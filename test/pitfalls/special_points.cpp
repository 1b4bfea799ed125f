// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Zero times infinity in the backward pass: square roots, norms and powers at zero, divisions,
// choices whose other side is a pole. The numbers are PyTorch's (special_points.py).
#include "Trained.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace accc;
using namespace accc::test;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = NAN;

/// Parameters (x, or a and b), y, and the parameters' gradients.
struct Row {
  const char *graph;
  std::vector<std::vector<double>> columns;
};

const Row kRows[] = {
#include "SpecialPoints.inc"
};

/// Gradients may be numbers where PyTorch's are not (0 behind a choice, the limit at infinity), and
/// anything that is not finite where they are infinite. The reference's tolerance is that of
/// numbers rounded to f32.
bool isGood(double found, double expected, bool isGradient) {
  if (std::isnan(expected))
    return std::isnan(found) || isGradient;
  if (std::isinf(expected))
    return found == expected || (isGradient && !std::isfinite(found)) || std::abs(found) > 3.4e38;
  return std::abs(found - expected) <= 1e-5 * std::abs(expected) + 1e-36;
}
} // namespace

TEST_CASE("special_points: values and gradients of operators at poles, kinks and limits") {
  for (const Row &row : kRows) {
    size_t parameters = row.columns.size() / 2;
    const std::vector<double> &y = row.columns[parameters];
    auto count = static_cast<int64_t>(row.columns[0].size()),
         results = static_cast<int64_t>(y.size());
    INFO(row.graph);
    std::string n = std::to_string(count), type = results == count ? "float[" + n + "]" : "float";
    std::vector<std::string> names =
        parameters == 1 ? std::vector<std::string>{"x"} : std::vector<std::string>{"a", "b"};
    std::string arguments;
    TrainedModel model;
    for (size_t i = 0; i < parameters; ++i) {
      arguments += (i ? ", float[" : "float[") + n + "] " + names[i];
      model.parameters[names[i]] = array({count}, row.columns[i]);
    }
    model.graph = "g (" + arguments + ") => (" + type + " y) { " + row.graph + " }";
    model.opset = std::string(row.graph).find("Gelu") != std::string::npos ? 20 : 17;
    model.cotangents["y"] = ReferenceArray(
        results == count ? llvm::ArrayRef<int64_t>(count) : llvm::ArrayRef<int64_t>(), 1);
    if (std::string(row.graph).find("Mish") != std::string::npos)
      model.opset = 18;
    Training training = train(model);
    INFO(training.error);
    for (bool reference : {false, true}) {
      const Trace &trace = reference ? training.reference : training.library;
      INFO((reference ? "the interpreter" : "the library"));
      auto check = [&](const std::string &key, const std::vector<double> &expected) {
        REQUIRE(trace.count(key));
        const std::vector<double> &found = trace.at(key).values;
        for (size_t i = 0; i < expected.size(); ++i) {
          std::string at = std::to_string(row.columns[0][i % row.columns[0].size()]);
          if (parameters == 2)
            at += ", " + std::to_string(row.columns[1][i]);
          if (!isGood(found[i], expected[i], key != "grad_step y"))
            FAIL_CHECK(key << " at " << at << " is " << found[i] << ", expected " << expected[i]);
        }
      };
      check("grad_step y", y);
      for (size_t i = 0; i < parameters; ++i)
        check("grad_step grad." + names[i], row.columns[parameters + 1 + i]);
    }
  }
}
