// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of 16-bit floats and booleans, of which a thread takes several elements at once: of all
// lengths, in registers and not, with a rest, beside wider elements.
#include "kernels/Harness.h"

#include <catch2/catch.hpp>

using namespace accc::test;

namespace {

struct Rows {
  int64_t rows, length, padded; // elements from the start of a row to that of the next
};

/// The text with types in place of letters: X rows with their padding, W rows, F the same in f32,
/// K an f32 for each row, C an f32 for each column.
std::string shaped(std::string text, Rows shape, const std::string &element) {
  std::string rows = std::to_string(shape.rows), length = std::to_string(shape.length),
              padded = std::to_string(shape.padded), wide = "tensor<" + rows + "x" + length + "x";
  const std::pair<std::string, std::string> names[] = {
      {"$X", "tensor<" + rows + "x" + padded + "x" + element + ">"},
      {"$W", wide + element + ">"},
      {"$F", wide + "f32>"},
      {"$I", wide + "i64>"},
      {"$B", wide + "i1>"},
      {"$K", "tensor<" + rows + "xf32>"},
      {"$C", "tensor<" + length + "xf32>"},
      {"$limits", "array<i64: " + rows + ", " + length + ">"},
      {"$high", "array<i64: 0, " + std::to_string(shape.padded - shape.length) + ">"},
      {"$E", element}};
  for (const auto &[name, type] : names)
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += type.size())
      text.replace(at, name.size(), type);
  return text;
}

void check(const std::string &text, double tolerance) {
  INFO(text);
  CHECK(runKernelCase({"rows", text.c_str(), 3, tolerance}, "x86-64-v3").error == "");
}

/// From a lane or two of which not all have a vector to rows that do not stay in registers.
const Rows kRows[] = {{3, 2, 2},       {5, 4, 4},       {7, 12, 12},       {40, 64, 64},
                      {9, 90, 92},     {33, 128, 128},  {6, 768, 768},     {5, 1000, 1000},
                      {3, 1023, 1024}, {2, 4100, 4100}, {2, 20003, 20008}, {1, 32771, 32771}};

/// Beyond a rounding of 16 bits, which may be to the other side.
double toleranceOf(const std::string &element) { return element == "bf16" ? 4e-3 : 5e-4; }

} // namespace

TEST_CASE("softmax of rows of short elements and its sum") {
  const std::string text = R"(func.func @f(%a: $X, %s: $K) -> ($W, $K) {
    %x = prim.slice %a {starts = array<i64: 0, 0>, limits = $limits, strides = array<i64: 1, 1>} : ($X) -> $W
    %w = prim.convert %x : ($W) -> $F
    %m = prim.reduce max %w {dimensions = array<i64: 1>} : ($F) -> $K
    %mb = prim.broadcast %m {dimensions = array<i64: 0>} : ($K) -> $F
    %d = prim.sub %w, %mb : ($F, $F) -> $F
    %e = prim.exp %d : ($F) -> $F
    %t = prim.reduce sum %e {dimensions = array<i64: 1>} : ($F) -> $K
    %u = prim.mul %t, %s : ($K, $K) -> $K
    %tb = prim.broadcast %t {dimensions = array<i64: 0>} : ($K) -> $F
    %y = prim.div %e, %tb : ($F, $F) -> $F
    %r = prim.convert %y : ($F) -> $W
    return %r, %u : $W, $K })";
  for (const char *element : {"bf16", "f16"})
    for (Rows shape : kRows)
      check(shaped(text, shape, element), toleranceOf(element));
}

/// As of a vocabulary whose rows a product has padded.
TEST_CASE("a gradient of rows of short elements, padded as they are") {
  const std::string text = R"(func.func @f(%a: $X, %m: $K, %s: $K) -> $X {
    %x = prim.slice %a {starts = array<i64: 0, 0>, limits = $limits, strides = array<i64: 1, 1>} : ($X) -> $W
    %w = prim.convert %x : ($W) -> $F
    %mb = prim.broadcast %m {dimensions = array<i64: 0>} : ($K) -> $F
    %d = prim.sub %w, %mb : ($F, $F) -> $F
    %i = prim.iota {dimension = 1 : i64} : () -> $I
    %seven = prim.constant dense<7> : $I
    %one = prim.compare eq %i, %seven : ($I, $I) -> $B
    %c = prim.convert %one : ($B) -> $F
    %e = prim.add %d, %c : ($F, $F) -> $F
    %sb = prim.broadcast %s {dimensions = array<i64: 0>} : ($K) -> $F
    %y = prim.mul %e, %sb : ($F, $F) -> $F
    %r = prim.convert %y : ($F) -> $W
    %z = prim.constant dense<1.5> : tensor<$E>
    %p = prim.pad %r, %z {low = array<i64: 0, 0>, high = $high, interior = array<i64: 0, 0>} : ($W, tensor<$E>) -> $X
    return %p : $X })";
  for (const char *element : {"bf16", "f16"})
    for (Rows shape : {Rows{3, 9, 16}, Rows{3, 1017, 1024}, Rows{7, 505, 512}, Rows{2, 1025, 1032},
                       Rows{4, 600, 640}, Rows{1, 2051, 2056}, Rows{5, 513, 514}})
      check(shaped(text, shape, element), toleranceOf(element));
}

TEST_CASE("sums, maxima and products of rows of short elements") {
  const std::string text = R"(func.func @f(%a: $W, %k: $B, %c: $C) -> ($F, $K, $K, $K) {
    %w = prim.convert %a : ($W) -> $F
    %cb = prim.broadcast %c {dimensions = array<i64: 1>} : ($C) -> $F
    %z = prim.constant dense<1.0> : $F
    %x = prim.select %k, %w, %z : ($B, $F, $F) -> $F
    %y = prim.mul %x, %cb : ($F, $F) -> $F
    %s = prim.reduce sum %y {dimensions = array<i64: 1>} : ($F) -> $K
    %m = prim.reduce min %x {dimensions = array<i64: 1>} : ($F) -> $K
    %kf = prim.convert %k : ($B) -> $F
    %n = prim.reduce sum %kf {dimensions = array<i64: 1>} : ($F) -> $K
    return %y, %s, %m, %n : $F, $K, $K, $K })";
  for (const char *element : {"bf16", "f16"})
    for (Rows shape : kRows)
      check(shaped(text, shape, element), 1e-4);
}

TEST_CASE("whether any of a row of booleans holds") {
  for (int64_t length : {3, 8, 100, 4000, 70000}) {
    std::string wide = "tensor<3x" + std::to_string(length) + "xi1>";
    for (const char *kind : {"any", "all"})
      check("func.func @f(%a: " + wide + ") -> tensor<3xi1> {\n  %r = prim.reduce " + kind +
                " %a {dimensions = array<i64: 1>} : (" + wide +
                ") -> tensor<3xi1>\n  return %r : tensor<3xi1>\n}\n",
            0);
  }
}

/// A channel of several dimensions has no rest.
TEST_CASE("channels of short elements") {
  for (int64_t width : {3, 4, 6, 14, 28, 56}) {
    std::string n = std::to_string(width), wide = "tensor<4x5x" + n + "x" + n + "x";
    std::string x = wide + "bf16>", f = wide + "f32>", k = "tensor<5xf32>";
    check("func.func @f(%a: " + x + ") -> (" + x + ", " + k + ") {\n  %w = prim.convert %a : (" +
              x + ") -> " + f +
              "\n  %s = prim.reduce sum %w {dimensions = array<i64: 0, 2, 3>} : (" + f + ") -> " +
              k + "\n  %b = prim.broadcast %s {dimensions = array<i64: 1>} : (" + k + ") -> " + f +
              "\n  %d = prim.mul %w, %b : (" + f + ", " + f + ") -> " + f +
              "\n  %r = prim.convert %d : (" + f + ") -> " + x + "\n  return %r, %s : " + x + ", " +
              k + "\n}\n",
          4e-3);
  }
}

/// A normalisation's gradient with that of its scale, over strips of rows.
TEST_CASE("rows of short elements with columns of strips") {
  std::string text = R"(func.func @f(%x: $W, %dy: $W, %g: $C) -> ($W, $K, $P, $P) {
    %xf = prim.convert %x : ($W) -> $F
    %yf = prim.convert %dy : ($W) -> $F
    %gb = prim.broadcast %g {dimensions = array<i64: 1>} : ($C) -> $F
    %p = prim.mul %yf, %gb : ($F, $F) -> $F
    %q = prim.mul %p, %xf : ($F, $F) -> $F
    %s = prim.reduce sum %q {dimensions = array<i64: 1>} : ($F) -> $K
    %sb = prim.broadcast %s {dimensions = array<i64: 0>} : ($K) -> $F
    %t = prim.mul %xf, %sb : ($F, $F) -> $F
    %u = prim.sub %p, %t : ($F, $F) -> $F
    %dx = prim.convert %u : ($F) -> $W
    %m = prim.mul %yf, %xf : ($F, $F) -> $F
    %ms = prim.reshape %m : ($F) -> $S
    %dg = prim.reduce sum %ms {dimensions = array<i64: 1>} : ($S) -> $P
    %ys = prim.reshape %yf : ($F) -> $S
    %db = prim.reduce sum %ys {dimensions = array<i64: 1>} : ($S) -> $P
    return %dx, %s, %dg, %db : $W, $K, $P, $P })";
  for (int64_t columns : {3, 40, 90, 200, 768, 1024, 1111, 1114}) {
    std::string of = text, n = std::to_string(columns);
    for (const auto &[name, type] :
         {std::pair<std::string, std::string>{"$S", "tensor<128x4x" + n + "xf32>"},
          {"$P", "tensor<128x" + n + "xf32>"}})
      for (size_t at = 0; (at = of.find(name, at)) != std::string::npos;)
        of.replace(at, name.size(), type);
    check(shaped(of, {512, columns, columns}, "bf16"), 4e-3);
  }
}

/// Results beside each other, of which a lane has several: few and many, in registers and not.
TEST_CASE("columns of short elements") {
  const int64_t shapes[][3] = {{1, 5000, 4},  {60, 100, 4},  {150, 9000, 4}, {1, 3000, 64},
                               {3, 40, 8},    {2, 1100, 12}, {40, 300, 33},  {500, 6, 6},
                               {2, 70, 1000}, {1, 9, 130}};
  for (const char *element : {"bf16", "f16"})
    for (auto [rows, extent, columns] : shapes) {
      auto type = [](std::initializer_list<int64_t> shape, const std::string &of) {
        std::string text = "tensor<";
        for (int64_t extent : shape)
          text += std::to_string(extent) + "x";
        return text + of + ">";
      };
      std::string x = type({rows, extent, columns}, element),
                  f = type({rows, extent, columns}, "f32"), k = type({rows, columns}, "f32"),
                  s = type({rows, columns}, element), c = type({columns}, "f32");
      check("func.func @f(%a: " + x + ", %c: " + c + ") -> (" + x + ", " + k + ", " + s + ") {\n" +
                "  %w = prim.convert %a : (" + x + ") -> " + f +
                "\n  %m = prim.reduce max %w {dimensions = array<i64: 1>} : (" + f + ") -> " + k +
                "\n  %b = prim.broadcast %m {dimensions = array<i64: 0, 2>} : (" + k + ") -> " + f +
                "\n  %d = prim.sub %w, %b : (" + f + ", " + f + ") -> " + f +
                "\n  %e = prim.exp %d : (" + f + ") -> " + f +
                "\n  %t = prim.reduce sum %e {dimensions = array<i64: 1>} : (" + f + ") -> " + k +
                "\n  %tb = prim.broadcast %t {dimensions = array<i64: 0, 2>} : (" + k + ") -> " +
                f + "\n  %y = prim.div %e, %tb : (" + f + ", " + f + ") -> " + f +
                "\n  %r = prim.convert %y : (" + f + ") -> " + x +
                "\n  %cb = prim.broadcast %c {dimensions = array<i64: 1>} : (" + c + ") -> " + k +
                "\n  %u = prim.mul %m, %cb : (" + k + ", " + k + ") -> " + k +
                "\n  %v = prim.convert %u : (" + k + ") -> " + s + "\n  return %r, %t, %v : " + x +
                ", " + k + ", " + s + "\n}\n",
            toleranceOf(element));
    }
}

/// Of an odd number, though rows begin at a multiple of a vector.
TEST_CASE("columns of short elements in padded rows") {
  for (int64_t columns : {5, 13, 61}) {
    std::string n = std::to_string(columns), x = "tensor<300x64xbf16>",
                w = "tensor<300x" + n + "xbf16>", f = "tensor<300x" + n + "xf32>",
                k = "tensor<" + n + "xf32>";
    check("func.func @f(%a: " + x + ") -> " + k +
              " {\n  %x = prim.slice %a {starts = array<i64: 0, 0>, limits = array<i64: 300, " + n +
              ">, strides = array<i64: 1, 1>} : (" + x + ") -> " + w +
              "\n  %w = prim.convert %x : (" + w + ") -> " + f +
              "\n  %r = prim.reduce max %w {dimensions = array<i64: 0>} : (" + f + ") -> " + k +
              "\n  return %r : " + k + "\n}\n",
          0);
  }
}
