// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions whose padding differs before and after: a library that knows one number was given
// the first, and the gradients were those of another convolution.
#include "Trained.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;

namespace {
std::string number(int64_t value) { return std::to_string(value); }

struct Pads {
  int64_t top, left, bottom, right;
};

std::vector<Pads> pads() {
  std::vector<Pads> all;
  for (int64_t i = 0; i < 16; ++i)
    all.push_back({i & 1, i >> 1 & 1, i >> 2 & 1, (i >> 3 & 1) * 2});
  return all;
}

/// The convolution by its definition.
ReferenceArray convolved(const ReferenceArray &x, const ReferenceArray &w, const Pads &p,
                         int64_t stride) {
  int64_t n = x.shape[0], c = x.shape[1], h = x.shape[2], v = x.shape[3], m = w.shape[0],
          k = w.shape[2], l = w.shape[3];
  int64_t oh = (h + p.top + p.bottom - k) / stride + 1,
          ow = (v + p.left + p.right - l) / stride + 1;
  ReferenceArray y({n, m, oh, ow});
  for (int64_t i = 0; i < y.size(); ++i) {
    int64_t column = i % ow, row = i / ow % oh, out = i / (ow * oh) % m, image = i / (ow * oh * m);
    for (int64_t in = 0; in < c; ++in)
      for (int64_t a = 0; a < k; ++a)
        for (int64_t b = 0; b < l; ++b) {
          int64_t at = row * stride + a - p.top, to = column * stride + b - p.left;
          if (at >= 0 && at < h && to >= 0 && to < v)
            y.values[i] += x.values[((image * c + in) * h + at) * v + to] *
                           w.values[((out * c + in) * k + a) * l + b];
        }
  }
  return y;
}

double inner(const ReferenceArray &a, const ReferenceArray &b) {
  double sum = 0;
  for (int64_t i = 0; i < a.size(); ++i)
    sum += a.values[i] * b.values[i];
  return sum;
}
} // namespace

TEST_CASE("asymmetric_pads: sixteen paddings of a convolution") {
  for (int64_t stride : {1, 2}) {
    std::string arguments, results, body;
    Values parameters;
    std::vector<ReferenceArray> expected;
    for (const Pads &p : pads()) {
      std::string n = number(static_cast<int64_t>(expected.size()));
      parameters["x" + n] = spread({2, 2, 6, 5}, -1, 1, 1 + expected.size());
      parameters["w" + n] = spread({3, 2, 3, 2}, -1, 1, 50 + expected.size());
      expected.push_back(convolved(parameters["x" + n], parameters["w" + n], p, stride));
      arguments += (n == "0" ? "" : ", ") + ("float[2,2,6,5] x" + n) + ", float[3,2,3,2] w" + n;
      results += (n == "0" ? "" : ", ") + ("float[2,3," + number(expected.back().shape[2])) + "," +
                 number(expected.back().shape[3]) + "] y" + n;
      body += "y" + n + " = Conv <pads = [" + number(p.top) + "," + number(p.left) + "," +
              number(p.bottom) + "," + number(p.right) + "], strides = [" + number(stride) + "," +
              number(stride) + "]> (x" + n + ", w" + n + ") ";
    }
    Training training = trainAsInterpreted(
        {"g (" + arguments + ") => (" + results + ") { " + body + "}", parameters}, 1e-5);
    for (size_t i = 0; i < expected.size(); ++i) {
      std::string n = number(static_cast<int64_t>(i));
      INFO("stride " << stride << ", padding " << n);
      checkNear(training.output("y" + n), expected[i].values, 1e-5);
      // Linear in either operand.
      double ahead = 0, scale = 0;

      ahead = inner(parameters["x" + n], training.gradient("x" + n));
      double other = inner(parameters["w" + n], training.gradient("w" + n));
      for (double value : expected[i].values)
        scale += std::abs(value);
      CHECK(std::abs(ahead - other) <= 1e-5 * scale);
    }
  }
}

TEST_CASE("asymmetric_pads: groups, dilations, one dimension and SAME") {
  for (const char *conv :
       {"y = Conv <pads = [0,2,1,0], group = 2> (x, w)",
        "y = Conv <pads = [2,0,0,3], dilations = [2,1], group = 2> (x, w)",
        "y = Conv <auto_pad = \"SAME_UPPER\", strides = [2,2], group = 2> (x, w)",
        "y = Conv <auto_pad = \"SAME_LOWER\", strides = [2,2], group = 2> (x, w)"}) {
    INFO(conv);
    bool same = std::string(conv).find("SAME") != std::string::npos;
    bool dilated = std::string(conv).find("dilations") != std::string::npos;
    std::string shape = same ? "2,4,3,4" : dilated ? "2,4,4,9" : "2,4,5,8";
    trainAsInterpreted(
        {"g (float[2,4,6,7] x, float[4,2,3,2] w) => (float[" + shape + "] y) { " + conv + " }",
         {{"x", spread({2, 4, 6, 7}, -1, 1, 2)}, {"w", spread({4, 2, 3, 2}, -1, 1, 3)}}},
        1e-5);
  }
  trainAsInterpreted({"g (float[2,3,9] x, float[4,3,4] w, float[4] b) => (float[2,4,9] y) { y = "
                      "Conv <pads = [2,1]> (x, w, b) }",
                      {{"x", spread({2, 3, 9}, -1, 1, 2)},
                       {"w", spread({4, 3, 4}, -1, 1, 3)},
                       {"b", spread({4}, -1, 1, 4)}}},
                     1e-5);
}

TEST_CASE("asymmetric_pads: transposed convolutions, pooling and padding itself") {
  trainAsInterpreted(
      {"g (float[2,3,4,5] x, float[3,4,3,2] w) => (float[2,4,7,9] y) { y = ConvTranspose <pads = "
       "[0,1,2,0], strides "
       "= [2,2]> (x, w) }",
       {{"x", spread({2, 3, 4, 5}, -1, 1, 2)}, {"w", spread({3, 4, 3, 2}, -1, 1, 3)}}},
      1e-5);
  // More output padding than the stride, less than the dilation.
  trainAsInterpreted(
      {"g (float[2,3,4,5] x, float[3,4,3,2] w) => (float[2,4,15,10] y) { y = ConvTranspose <"
       "strides = [2,2], dilations = [3,1], output_padding = [2,0]> (x, w) }",
       {{"x", spread({2, 3, 4, 5}, -1, 1, 2)}, {"w", spread({3, 4, 3, 2}, -1, 1, 3)}}},
      1e-5);
  for (const char *mode : {"constant", "reflect", "edge"}) {
    INFO(mode);
    trainAsInterpreted({"g (float[2,3,4] x) => (float[2,6,7] y) { p = Constant <value = int64[6] "
                        "{0, 1, 3, 0, 2, 0}> () y = Pad <mode = \"" +
                            std::string(mode) + "\"> (x, p) }",
                        {{"x", spread({2, 3, 4})}}});
  }
  trainAsInterpreted({"g (float[2,3,6,7] x) => (float[2,3,3,4] y) { y = MaxPool <kernel_shape = "
                      "[3,2], strides = [2,2], pads = [0,1,1,1]> (x) }",
                      {{"x", spread({2, 3, 6, 7}, -2, -1)}}});
}
