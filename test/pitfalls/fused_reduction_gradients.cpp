// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs whose forward pass was right elsewhere while a reduction fused into the backward pass gave
// garbage.
#include "Trained.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;

TEST_CASE("fused_reduction_gradients: the bias of a convolution") {
  for (const char *after : {"y = Relu(c)", "r = Relu(c) y = MaxPool <kernel_shape = [2,2]> (r)",
                            "s = Sigmoid(c) y = Mul(s, c)", "y = GlobalAveragePool(c)"}) {
    INFO(after);
    bool global = std::string(after).find("Global") != std::string::npos;
    bool pool = std::string(after).find("MaxPool") != std::string::npos;
    std::string result = global ? "2,5,1,1" : pool ? "2,5,6,8" : "2,5,7,9";
    Training training = trainAsInterpreted(
        {"g (float[2,3,7,9] x, float[5,3,3,3] w, float[5] b) => (float[" + result +
             "] y) { c = Conv <pads = [1,1,1,1]> (x, w, b) " + after + " }",
         {{"x", spread({2, 3, 7, 9}, -1, 1, 2)},
          {"w", spread({5, 3, 3, 3}, -1, 1, 3)},
          {"b", spread({5}, -1, 1, 4)}}},
        1e-5);
    checkFinite(training.gradient("b"));
  }
}

TEST_CASE("fused_reduction_gradients: resize, convolution, pooling and a choice") {
  for (const char *mode : {"nearest", "linear"}) {
    INFO(mode);
    trainAsInterpreted({"g (float[2,3,5,6] x, float[4,3,3,3] w, float[4] b, bool[2,4,5,6] which) "
                        "=> (float[2,4,5,6] y) {"
                        " scales = Constant <value = float[4] {1.0, 1.0, 2.0, 2.0}> ()"
                        " u = Resize <mode = \"" +
                            std::string(mode) +
                            "\"> (x, , scales) c = Conv <pads = [1,1,1,1]> (u, w, b)"
                            " p = AveragePool <kernel_shape = [2,2], strides = [2,2]> (c)"
                            " n = Neg(p) y = Where(which, p, n) }",
                        {{"x", spread({2, 3, 5, 6}, -1, 1, 2)},
                         {"w", spread({4, 3, 3, 3}, -1, 1, 3)},
                         {"b", spread({4}, -1, 1, 4)}},
                        {{"which", array({2, 4, 5, 6},
                                         [] {
                                           std::vector<double> which;
                                           for (int i = 0; i < 240; ++i)
                                             which.push_back(i % 3 != 0);
                                           return which;
                                         }())}}},
                       1e-5);
  }
}

TEST_CASE("fused_reduction_gradients: sums over rows, columns and everything of one value") {
  trainAsInterpreted(
      {R"(g (float[33,65] x, float[65] s, float[33,1] r) => (float[65] a, float[33,1] b, float c, float[33,65] d) {
            m = Mul(x, s)
            n = Add(m, r)
            t = Tanh(n)
            axes0 = Constant <value = int64[1] {0}> ()
            axes1 = Constant <value = int64[1] {1}> ()
            a = ReduceSum <keepdims = 0> (t, axes0)
            b = ReduceSum <keepdims = 1> (t, axes1)
            c = ReduceSum <keepdims = 0> (t)
            d = Mul(t, t)
          })",
       {{"x", spread({33, 65}, -1, 1, 2)},
        {"s", spread({65}, -1, 1, 3)},
        {"r", spread({33, 1}, -1, 1, 4)}}},
      1e-5);
}

TEST_CASE("fused_reduction_gradients: normalisations between residual connections") {
  trainAsInterpreted(
      {R"(g (float[6,37] x, float[37] s, float[37] b, float[37,37] w) => (float[6,37] y) {
            n = LayerNormalization <axis = -1> (x, s, b)
            h = MatMul(n, w)
            r = Add(x, h)
            m = LayerNormalization <axis = -1> (r, s, b)
            g = Sigmoid(m)
            k = Mul(g, r)
            y = Add(k, x)
          })",
       {{"x", spread({6, 37}, -1, 1, 2)},
        {"s", spread({37}, 0.5, 1.5, 3)},
        {"b", spread({37}, -1, 1, 4)},
        {"w", spread({37, 37}, -0.2, 0.2, 5)}}},
      1e-5);
}
