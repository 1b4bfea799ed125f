// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Adjoint.h"

#include "llvm/ADT/STLExtras.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace accc;
using namespace accc::test;

static std::string typeOf(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : ",") + std::to_string(extent);
  return "float[" + text + "]";
}

static std::string replaced(std::string text, const std::string &what, const std::string &by) {
  for (size_t at; (at = text.find(what)) != std::string::npos;)
    text.replace(at, what.size(), by);
  return text;
}

/// Of x, one parameter for each part, so that each has a gradient of its own.
void accc::test::checkAdjoint(std::vector<int64_t> shape, const std::vector<LinearPart> &parts,
                              int opset) {
  std::string arguments, results, body;
  Values parameters;
  for (const auto &[i, part] : llvm::enumerate(parts)) {
    std::string n = std::to_string(i), text = replaced(part.body, "$y", "y" + n);
    // `x` as an operand.
    text = replaced(replaced(text, "(x,", "(x" + n + " ,"), "(x)", "(x" + n + " )");
    arguments += (i ? ", " : "") + typeOf(shape) + " x" + n;
    results += (i ? ", " : "") + typeOf(part.shape) + " y" + n;
    body += text + " ";
    parameters["x" + n] = spread(shape, -1, 1, i + 1);
  }
  Values cotangents;
  for (const auto &[i, part] : llvm::enumerate(parts))
    cotangents["y" + std::to_string(i)] = spread(part.shape, -1, 1, 100 + i);
  Training training =
      trainAsInterpreted({"g (" + arguments + ") => (" + results + ") { " + body + " }",
                          parameters,
                          {},
                          cotangents,
                          {},
                          opset},
                         1e-5);
  for (const auto &[i, part] : llvm::enumerate(parts)) {
    std::string n = std::to_string(i);
    const ReferenceArray &x = parameters["x" + n], &w = cotangents["y" + n],
                         &y = training.output("y" + n), &gradient = training.gradient("x" + n);
    double ahead = 0, back = 0, terms = 0;
    for (int64_t k = 0; k < y.size(); ++k) {
      ahead += y.values[k] * w.values[k];
      terms += std::abs(y.values[k] * w.values[k]);
    }
    for (int64_t k = 0; k < x.size(); ++k)
      back += x.values[k] * gradient.values[k];
    INFO(part.body);
    CAPTURE(ahead, back);
    CHECK(std::abs(ahead - back) <= 2e-6 * terms + 1e-6);
  }
}
