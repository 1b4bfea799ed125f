// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attentions as primitives: products and a softmax, or calls where the target's library runs them
// (of 16-bit floats on a GPU, of eight features).
#include "kernels/Harness.h"

#include "llvm/Support/FormatVariadic.h"

#include <catch2/catch.hpp>

using namespace accc::test;

namespace {

struct Shape {
  int batch, queries, heads, keys, keyHeads, features, valueFeatures;
  const char *causal;
  const char *bias = ""; // its extents but that of keys
};

constexpr Shape kShapes[] = {
    {2, 7, 4, 7, 4, 8, 8, "true"},
    {2, 7, 4, 5, 2, 8, 8, "false"},
    {1, 9, 4, 5, 2, 8, 8, "true"},
    {1, 3, 6, 17, 2, 8, 8, "true"},
    {2, 5, 3, 6, 3, 5, 4, "false"},
    {2, 5, 3, 6, 1, 3, 5, "true"},
    {1, 1, 1, 1, 1, 8, 8, "true"},
    {3, 33, 1, 40, 1, 16, 16, "false"},
    {2, 7, 4, 5, 2, 8, 8, "false", "2x1x1x"},
    {2, 7, 4, 9, 2, 8, 8, "true", "1x4x7x"},
    {2, 3, 2, 6, 1, 5, 5, "false", "2x2x3x"},
};

/// The sums of 16-bit weights, and their rounding: a place of the type, 2^-8, for each.
double toleranceOf(const std::string &type) {
  return type == "f64" ? 1e-13 : type == "f32" ? 2e-6 : type == "f16" ? 2e-3 : 1.5e-2;
}

std::string textOf(const Shape &s, const std::string &type) {
  std::string q = llvm::formatv("tensor<{0}x{1}x{2}x{3}x{4}>", s.batch, s.queries, s.heads,
                                s.features, type),
              k = llvm::formatv("tensor<{0}x{1}x{2}x{3}x{4}>", s.batch, s.keys, s.keyHeads,
                                s.features, type),
              v = llvm::formatv("tensor<{0}x{1}x{2}x{3}x{4}>", s.batch, s.keys, s.keyHeads,
                                s.valueFeatures, type),
              y = llvm::formatv("tensor<{0}x{1}x{2}x{3}x{4}>", s.batch, s.queries, s.heads,
                                s.valueFeatures, type),
              stats = llvm::formatv("tensor<{0}x{1}x{2}x{3}>", s.batch, s.heads, s.queries,
                                    type == "f64" ? "f64" : "f32");
  std::string bias = llvm::formatv("tensor<{0}{1}x{2}>", s.bias, s.keys, type);
  bool biased = *s.bias;
  return llvm::formatv(R"(
    func.func @f(%q: {0}, %k: {1}, %v: {2}, %dy: {3}{6}) -> ({3}, {4}, {0}, {1}, {2}) {{
      %y, %stats = prim.attention %q, %k, %v{7} {{causal = {5}, scale = 0.6 : f64}
          : ({0}, {1}, {2}{8}) -> ({3}, {4})
      %dq, %dk, %dv = prim.attention_backward %q, %k, %v, %y, %stats, %dy{7}
          {{causal = {5}, scale = 0.6 : f64} : ({0}, {1}, {2}, {3}, {4}, {3}{8}) -> ({0}, {1}, {2})
      return %y, %stats, %dq, %dk, %dv : {3}, {4}, {0}, {1}, {2}
    })",
                       q, k, v, y, stats, s.causal, biased ? ", %bias: " + bias : "",
                       biased ? ", %bias" : "", biased ? ", " + bias : "");
}

} // namespace

TEST_CASE("attention and its gradient compute what the interpreter computes") {
  std::string type = GENERATE("f64", "f32", "f16", "bf16");
  for (const Shape &shape : kShapes) {
    std::string text = textOf(shape, type);
    INFO(text);
    KernelCase test{.name = "attention", .text = text.c_str()};
    test.tolerance = toleranceOf(type);
    test.passes = true;
    CHECK(runKernelCase(test, "x86-64-v3").error == "");
  }
}
