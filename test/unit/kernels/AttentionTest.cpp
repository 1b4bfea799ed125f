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

/// Of q, k and v that are parts of one tensor, as are their gradients; with positions before the
/// batch, as is the result then. Where not `joinsAll`, the gradient of q stays by itself.
std::string packedTextOf(const Shape &s, const std::string &type, bool positionsFirst,
                         bool joinsAll) {
  auto typeOf = [&](int heads, int features) -> std::string {
    return positionsFirst ? llvm::formatv("tensor<{0}x{1}x{2}x{3}x{4}>", s.queries, s.batch, heads,
                                          features, type)
                          : llvm::formatv("tensor<{0}x{1}x{2}x{3}x{4}>", s.batch, s.queries, heads,
                                          features, type);
  };
  auto headsOf = [&](int heads, int features) -> std::string {
    return llvm::formatv("tensor<{0}x{1}x{2}x{3}x{4}>", s.batch, s.queries, heads, features, type);
  };
  int outer = positionsFirst ? s.queries : s.batch, inner = positionsFirst ? s.batch : s.queries;
  int begin = 0;
  std::string text, parts[3], joined[3], partTypes[3];
  const char *order = positionsFirst ? "1, 0, 2, 3" : "0, 1, 2, 3";
  int heads[] = {s.heads, s.keyHeads, s.keyHeads};
  int features[] = {s.features, s.features, s.valueFeatures};
  int row = s.heads * s.features + s.keyHeads * (s.features + s.valueFeatures);
  std::string all = llvm::formatv("tensor<{0}x{1}x{2}x{3}>", outer, inner, row, type);
  for (int i = 0; i < 3; ++i) {
    int width = heads[i] * features[i];
    partTypes[i] = llvm::formatv("tensor<{0}x{1}x{2}x{3}>", outer, inner, width, type);
    text += llvm::formatv(
        "%s{0} = prim.slice %qkv {{starts = array<i64: 0, 0, {1}>, limits = array<i64: {2}, {3}, "
        "{4}>, strides = array<i64: 1, 1, 1>} : ({5}) -> {6}\n"
        "%r{0} = prim.reshape %s{0} : ({6}) -> {7}\n"
        "%f{0} = prim.transpose %r{0} {{permutation = array<i64: {8}>} : ({7}) -> {9}\n",
        i, begin, outer, inner, begin + width, all, partTypes[i], typeOf(heads[i], features[i]),
        order, headsOf(heads[i], features[i]));
    joined[i] = llvm::formatv(
        "%t{0} = prim.transpose %d#{0} {{permutation = array<i64: {1}>} : ({2}) -> {3}\n"
        "%j{0} = prim.reshape %t{0} : ({3}) -> {4}\n",
        i, order, headsOf(heads[i], features[i]), typeOf(heads[i], features[i]), partTypes[i]);
    begin += width;
  }
  std::string q = headsOf(heads[0], features[0]), k = headsOf(heads[1], features[1]),
              v = headsOf(heads[2], features[2]), y = headsOf(s.heads, s.valueFeatures),
              given = typeOf(s.heads, s.valueFeatures),
              stats = llvm::formatv("tensor<{0}x{1}x{2}x{3}>", s.batch, s.heads, s.queries,
                                    type == "f64" ? "f64" : "f32");
  text += llvm::formatv(
      "%y, %stats = prim.attention %f0, %f1, %f2 {{causal = {0}, scale = 0.6 : f64} : ({1}, {2}, "
      "{3}) -> ({4}, {5})\n"
      "%out = prim.transpose %y {{permutation = array<i64: {6}>} : ({4}) -> {7}\n"
      "%din = prim.transpose %dy {{permutation = array<i64: {6}>} : ({7}) -> {4}\n"
      "%d:3 = prim.attention_backward %f0, %f1, %f2, %y, %stats, %din {{causal = {0}, scale = 0.6 "
      ": f64} : ({1}, {2}, {3}, {4}, {5}, {4}) -> ({1}, {2}, {3})\n",
      s.causal, q, k, v, y, stats, order, given);
  text += joined[0] + joined[1] + joined[2];
  std::string rest =
      llvm::formatv("tensor<{0}x{1}x{2}x{3}>", outer, inner, row - heads[0] * features[0], type);
  text += joinsAll ? llvm::formatv("%all = prim.concatenate %j0, %j1, %j2 {{dimension = 2 : i64} : "
                                   "({0}, {1}, {2}) -> {3}\n",
                                   partTypes[0], partTypes[1], partTypes[2], all)
                         .str()
                   : llvm::formatv("%all = prim.concatenate %j1, %j2 {{dimension = 2 : i64} : "
                                   "({0}, {1}) -> {2}\n",
                                   partTypes[1], partTypes[2], rest)
                         .str();
  return llvm::formatv("func.func @f(%qkv: {0}, %dy: {1}) -> ({1}, {2}, {3}, {4}) {{\n{5}return "
                       "%out, %stats, %all, {6} : {1}, {2}, {3}, {4}\n}\n",
                       all, given, stats, joinsAll ? all : rest, joinsAll ? given : partTypes[0],
                       text, joinsAll ? "%dy" : "%j0");
}

} // namespace

TEST_CASE("attention of parts of a tensor computes what the interpreter computes") {
  std::string type = GENERATE("f32", "f16", "bf16");
  bool positionsFirst = GENERATE(false, true), joinsAll = GENERATE(false, true);
  for (const Shape &shape :
       {Shape{2, 7, 4, 7, 4, 8, 8, "true"}, Shape{3, 5, 4, 5, 2, 8, 16, "false"},
        Shape{1, 9, 2, 9, 2, 8, 8, "true"}}) {
    std::string text = packedTextOf(shape, type, positionsFirst, joinsAll);
    INFO(text);
    KernelCase test{.name = "attention", .text = text.c_str()};
    test.tolerance = toleranceOf(type);
    test.passes = true;
    CHECK(runKernelCase(test, "x86-64-v3").error == "");
  }
}

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
