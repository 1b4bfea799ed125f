// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A row of a softmax in which everything is masked: elsewhere NaN, which the backward pass then
// carried into every row. Here the row is zero, and so is its gradient.
#include "Trained.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace accc;
using namespace accc::test;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Of each three rows the second is masked as a whole, and of the others every third element.
bool isSeen(int64_t row, int64_t column) { return row % 3 != 1 && (row + column) % 3 != 0; }

struct Masked {
  std::string shape; // "6,4"
  std::vector<int64_t> extents;
  int64_t dimension;
};

/// Calls `each(i, row, column)` for each element, where rows run along the dimension.
template <typename Each> void forEach(const Masked &masked, Each each) {
  int64_t inner = 1, extent = masked.extents[masked.dimension], count = 1;
  for (size_t d = masked.dimension + 1; d < masked.extents.size(); ++d)
    inner *= masked.extents[d];
  for (int64_t size : masked.extents)
    count *= size;
  for (int64_t i = 0; i < count; ++i)
    each(i, i / (inner * extent) * inner + i % inner, i / inner % extent);
}

const Masked kMasked[] = {{"6,4", {6, 4}, 1},
                          {"4,6", {4, 6}, 0},
                          {"3,1", {3, 1}, 1},
                          {"3,700", {3, 700}, 1},
                          {"2,5,37", {2, 5, 37}, 1}};

std::string softmax(const Masked &masked, const std::string &op, const std::string &x) {
  return op + " <axis = " + std::to_string(masked.dimension) + "> (" + x + ")";
}
} // namespace

TEST_CASE("masked_softmax_rows: a row of minus infinity is zero in value and gradient") {
  for (const Masked &masked : kMasked) {
    INFO(masked.shape);
    ReferenceArray x = spread(masked.extents);
    forEach(masked, [&](int64_t i, int64_t row, int64_t column) {
      if (!isSeen(row, column))
        x.values[i] = -kInfinity;
    });
    Training training =
        trainAsInterpreted({"g (float[" + masked.shape + "] x) => (float[" + masked.shape +
                                "] y) { y = " + softmax(masked, "Softmax", "x") + " }",
                            {{"x", x}}});
    checkFinite(training.output("y"));
    checkFinite(training.gradient("x"));
    int64_t wrong = 0;
    forEach(masked, [&](int64_t i, int64_t row, int64_t column) {
      bool isZero = training.output("y").values[i] == 0,
           isFlat = training.gradient("x").values[i] == 0;
      wrong += isSeen(row, column) ? isZero : !(isZero && isFlat);
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("masked_softmax_rows: the logarithm of a masked row is minus infinity, and no gradient "
          "is NaN") {
  for (const Masked &masked : kMasked) {
    INFO(masked.shape);
    ReferenceArray x = spread(masked.extents);
    forEach(masked, [&](int64_t i, int64_t row, int64_t column) {
      if (!isSeen(row, column))
        x.values[i] = -kInfinity;
    });
    Training training =
        trainAsInterpreted({"g (float[" + masked.shape + "] x) => (float[" + masked.shape +
                                "] y) { y = " + softmax(masked, "LogSoftmax", "x") + " }",
                            {{"x", x}}});
    checkFinite(training.gradient("x"));
    int64_t wrong = 0;
    forEach(masked, [&](int64_t i, int64_t row, int64_t column) {
      wrong += (training.output("y").values[i] == -kInfinity) == isSeen(row, column);
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("masked_softmax_rows: a softmax behind a Where") {
  // As exporters write a safe softmax: masked before, and rows without anything chosen away after.
  for (const Masked &masked : kMasked)
    for (const char *low : {"-inf", "-1e30", "-3.4028234e38"}) {
      INFO(masked.shape << " " << low);
      ReferenceArray seen(masked.extents);
      forEach(masked, [&](int64_t i, int64_t row, int64_t column) {
        seen.values[i] = isSeen(row, column);
      });
      const std::string shape = "[" + masked.shape + "]";
      Training training = trainAsInterpreted(
          {"g (float" + shape + " x, bool" + shape + " seen, float low) => (float" + shape +
               " y) { s = Where(seen, x, low) p = " + softmax(masked, "Softmax", "s") +
               " zero = Constant <value = float {0}> () y = Where(seen, p, zero) }",
           {{"x", spread(masked.extents)}},
           {{"seen", seen}, {"low", filled({}, std::stod(low))}}});
      checkFinite(training.output("y"));
      checkFinite(training.gradient("x"));
      int64_t wrong = 0;
      forEach(masked, [&](int64_t i, int64_t row, int64_t column) {
        wrong += !isSeen(row, column) && training.gradient("x").values[i] != 0;
      });
      CHECK(wrong == 0);
    }
}

TEST_CASE("masked_softmax_rows: attention whose queries see nothing") {
  const ReferenceArray q = spread({2, 2, 6, 8}, -1, 1, 2), k = spread({2, 2, 5, 8}, -1, 1, 3),
                       v = spread({2, 2, 5, 8}, -1, 1, 4);
  ReferenceArray seen({6, 5}), added({6, 5});
  for (int64_t i = 0; i < 30; ++i) {
    seen.values[i] = isSeen(i / 5, i % 5);
    added.values[i] = seen.values[i] != 0 ? 0 : -kInfinity;
  }
  for (bool isBool : {true, false}) {
    INFO((isBool ? "a mask of booleans" : "a mask that is added"));
    Training training =
        trainAsInterpreted({"g (float[2,2,6,8] q, float[2,2,5,8] k, float[2,2,5,8] v, " +
                                std::string(isBool ? "bool" : "float") +
                                "[6,5] m) => (float[2,2,6,8] y) { y = Attention(q, k, v, m) }",
                            {{"q", q}, {"k", k}, {"v", v}},
                            {{"m", isBool ? seen : added}},
                            {},
                            {},
                            23});
    checkFinite(training.output("y"));
    for (const char *name : {"q", "k", "v"})
      checkFinite(training.gradient(name));
    for (int64_t i = 0; i < training.output("y").size(); ++i)
      if (i / 8 % 6 % 3 == 1) {
        CHECK(training.output("y").values[i] == 0);
        CHECK(training.gradient("q").values[i] == 0);
      }
  }
}
