// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fourier transforms by their definition, and determinants.
#include "ModelGradients.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <complex>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

// ---- spectra ----

namespace {

struct Transform {
  int64_t elements, parts, length;
  bool isInverse = false, isOneSided = false;
};

/// [2, elements, parts] along dimension 1, by the definition.
ReferenceArray transformed(const ReferenceArray &x, const Transform &t) {
  int64_t n = t.length, half = n / 2 + 1;
  bool fromHalf = t.isInverse && t.isOneSided;
  ReferenceArray y({2, t.isOneSided && !fromHalf ? half : n, fromHalf ? 1 : 2});
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t k = 0; k < y.shape[1]; ++k) {
      std::complex<double> sum = 0;
      for (int64_t j = 0; j < n; ++j) {
        bool isMirrored = fromHalf && j >= half;
        int64_t from = isMirrored ? n - j : j;
        if (from >= t.elements)
          continue;
        std::complex<double> value(x.at({row, from, 0}), t.parts == 2 ? x.at({row, from, 1}) : 0.0);
        double angle = 2 * M_PI * double(j * k % n) / double(n) * (t.isInverse ? 1 : -1);
        sum += (isMirrored ? std::conj(value) : value) * std::polar(1.0, angle);
      }
      if (t.isInverse)
        sum /= double(n);
      y.at({row, k, 0}) = sum.real();
      if (!fromHalf)
        y.at({row, k, 1}) = sum.imag();
    }
  return y;
}

} // namespace

TEST_CASE("DFT: by one matrix, by factors, by convolution") {
  for (const Transform &t : {Transform{1, 1, 1},
                             {6, 1, 6},
                             {7, 2, 7},
                             {5, 1, 8},
                             {9, 2, 6},
                             {8, 1, 8, false, true},
                             {7, 1, 7, false, true},
                             {6, 2, 6, true},
                             {5, 1, 5, true},
                             {5, 2, 8, true, true},
                             {4, 2, 7, true, true},
                             {5, 1, 8, true, true},
                             {600, 2, 600},
                             {600, 2, 600, true},
                             {1200, 1, 1200, false, true},
                             {601, 2, 1200, true, true},
                             {72, 2, 72},
                             {140, 1, 140, false, true},
                             {71, 2, 140, true, true},
                             {243, 2, 243},
                             {315, 1, 315, false, true},
                             {158, 2, 315, true, true},
                             {1155, 1, 1155},
                             {4096, 1, 4096, false, true},
                             {521, 2, 521},
                             {1042, 2, 1042, true}}) {
    auto number = [](int64_t n) { return std::to_string(n); };
    ReferenceArray x = random({2, t.elements, t.parts}), expected = transformed(x, t);
    std::string text = "g (float[2," + number(t.elements) + "," + number(t.parts) +
                       "] x) => (float[2," + number(expected.shape[1]) + "," +
                       number(expected.shape[2]) + "] y) <int64 n = {" + number(t.length) +
                       "}, int64 axis = {1}> { y = DFT <inverse = " + number(t.isInverse) +
                       ", onesided = " + number(t.isOneSided) + "> (x, n, axis) }";
    checkClose(resultOf(text, {{"x", x}}), expected);
    if (t.length < 10 || t.length == 72 || t.length == 140)
      checkGradients(text, {{"x", x}}, {"x"});
  }
}

// Lines whose neighbours are other lines are transformed where they lie.
TEST_CASE("DFT: of columns") {
  constexpr int64_t kLines = 9;
  for (const Transform &t : {Transform{6, 2, 6},
                             {72, 2, 72},
                             {140, 1, 140, false, true},
                             {158, 2, 315, true, true},
                             {315, 1, 315, false, true},
                             {521, 2, 521}}) {
    // Of both lines that the definition is evaluated for, some copies.
    ReferenceArray lines = random({2, t.elements, t.parts}), expected = transformed(lines, t);
    auto columns = [&](const ReferenceArray &x) {
      ReferenceArray y({x.shape[1], kLines, x.shape[2]});
      for (int64_t j = 0; j < y.shape[0]; ++j)
        for (int64_t line = 0; line < kLines; ++line)
          for (int64_t part = 0; part < y.shape[2]; ++part)
            y.at({j, line, part}) = x.at({line % 2, j, part});
      return y;
    };
    ReferenceArray x = columns(lines), y = columns(expected);
    auto typeOf = [](const ReferenceArray &array) {
      return "float[" + std::to_string(array.shape[0]) + "," + std::to_string(array.shape[1]) +
             "," + std::to_string(array.shape[2]) + "]";
    };
    std::string text = "g (" + typeOf(x) + " x) => (" + typeOf(y) + " y) <int64 n = {" +
                       std::to_string(t.length) +
                       "}, int64 axis = {0}> { y = DFT <inverse = " + std::to_string(t.isInverse) +
                       ", onesided = " + std::to_string(t.isOneSided) + "> (x, n, axis) }";
    checkClose(resultOf(text, {{"x", x}}), y);
  }
}

TEST_CASE("STFT: by the signal and the window") {
  for (const char *step : {"2", "5", "1"}) {
    std::string frames = std::to_string((40 - 20) / std::atoi(step) + 1);
    std::string text = std::string("g (float[1,40,1] x, float[20] window) => (float[1,") + frames +
                       ",11,2] y) <int64 step = {" + step + "}> { y = STFT (x, step, window) }";
    checkGradients(text, {{"x", random({1, 40, 1})}, {"window", random({20})}}, {"x", "window"},
                   17);
  }
}

TEST_CASE("MelWeightMatrix: edges beyond what the spectrum holds") {
  auto problems = [](const char *edges) {
    return importText(
               std::string("g (float[4] x) => (float[9,4] y) <int64 n = {4}, int64 l = {16}, "
                           "int64 r = {8000}, ") +
               edges + "> { m = MelWeightMatrix(n, l, r, a, b) y = Mul(m, x) }")
        .problems();
  };
  CHECK(problems("float a = {0}, float b = {4000}") == "");
  CHECK_THAT(problems("float a = {0}, float b = {9000}"), Contains("half of the sample rate"));
  CHECK_THAT(problems("float a = {-90}, float b = {900}"), Contains("half of the sample rate"));
}

// ---- determinants ----

TEST_CASE("Det: the gradient, where rows are exchanged, too") {
  for (int64_t n = 1; n <= 6; ++n) {
    std::string m = std::to_string(n);
    std::string text = "g (float[2," + m + "," + m + "] x) => (float[2] y) { y = Det(x) }";
    checkGradients(text, {{"x", random({2, n, n})}}, {"x"});
  }
  // Rows of zeros leave nothing to divide by.
  ReferenceArray singular({1, 4, 4});
  for (int64_t i : {0, 2, 3})
    singular.at({0, i, i}) = 2;
  checkClose(resultOf("g (float[1,4,4] x) => (float[1] y) { y = Det(x) }", {{"x", singular}}),
             array({1}, {0}));
}
