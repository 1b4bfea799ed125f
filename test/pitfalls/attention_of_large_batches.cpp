// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention whose gradients were garbage at sizes that few tests have: batches of thousands, sizes
// that are no multiple of a block.
#include "Trained.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;

namespace {
struct Sizes {
  int64_t batch, heads, queries, keys, width;
};

void checkAttention(const Sizes &s, const std::string &body, int opset) {
  auto shape = [&](int64_t rows) { return std::vector<int64_t>{s.batch, s.heads, rows, s.width}; };
  auto type = [&](int64_t rows) {
    std::string text;
    for (int64_t extent : shape(rows))
      text += (text.empty() ? "float[" : ",") + std::to_string(extent);
    return text + "]";
  };
  INFO(type(s.queries) << " " << type(s.keys));
  Training training =
      trainAsInterpreted({"g (" + type(s.queries) + " q, " + type(s.keys) + " k, " + type(s.keys) +
                              " v) => (" + type(s.queries) + " y) { " + body + " }",
                          {{"q", spread(shape(s.queries), -2, 2, 2)},
                           {"k", spread(shape(s.keys), -2, 2, 3)},
                           {"v", spread(shape(s.keys), -2, 2, 4)}},
                          {},
                          {},
                          {},
                          opset},
                         1e-5);
  for (const char *name : {"q", "k", "v"})
    checkFinite(training.gradient(name));
}

const std::string kParts = "kt = Transpose <perm = [0, 1, 3, 2]> (k) s = MatMul(q, kt) "
                           "scale = Constant <value = float {0.5}> () t = Mul(s, scale) "
                           "p = Softmax <axis = -1> (t) y = MatMul(p, v)";
} // namespace

TEST_CASE("attention_of_large_batches: thousands of rows") {
  const Sizes sizes = testsCuda() ? Sizes{1025, 1, 2, 3, 5} : Sizes{4099, 1, 2, 3, 5};
  checkAttention(sizes, "y = Attention(q, k, v)", 23);
  checkAttention(sizes, kParts, 17);
}

TEST_CASE("attention_of_large_batches: odd numbers of queries and keys") {
  for (const Sizes &s : {Sizes{1, 1, 65, 67, 3}, Sizes{3, 2, 1, 129, 7}, Sizes{2, 3, 33, 1, 1}}) {
    checkAttention(s, "y = Attention(q, k, v)", 23);
    checkAttention(s, "y = Attention <is_causal = 1> (q, k, v)", 23);
    checkAttention(s, kParts, 17);
  }
}

TEST_CASE("attention_of_large_batches: many heads, as few queries share keys") {
  for (const Sizes &s : {Sizes{2, 65, 3, 5, 4}, Sizes{1, 129, 1, 1, 9}})
    checkAttention(s, "y = Attention(q, k, v)", 23);
}
