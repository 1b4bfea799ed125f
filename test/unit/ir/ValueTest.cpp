// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of the primitives that are not pointwise, worked out by hand.
#include "GradientRows.h"
#include "Program.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace accc;
using namespace accc::test;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

namespace {
struct ValueRow {
  GradientRow op;
  std::vector<std::vector<double>> expected;
};
} // namespace

static Input given(std::string type, std::vector<double> values) {
  return {std::move(type), 0, 0, std::move(values)};
}

static std::string windows(const std::string &window, const std::string &strides,
                           const std::string &low, const std::string &high) {
  return "{window = array<i64: " + window + ">, strides = array<i64: " + strides +
         ">, dilations = array<i64: 1>, pad_low = array<i64: " + low +
         ">, pad_high = array<i64: " + high + ">}";
}

static std::vector<ValueRow> makeRows() {
  Input six = given("2x3xf32", {1, 2, 3, 4, 5, 6}), empty = given("2x0xf32", {});
  Input row = given("5xf32", {1, 3, 3, 2, 5});
  std::string along0 = "{dimensions = array<i64: 0>}", along1 = "{dimensions = array<i64: 1>}";
  std::string conv =
      "{strides = array<i64: 2>, dilations = array<i64: 1>, pad_low = array<i64: 1>, "
      "pad_high = array<i64: 0>, groups = 1 : i64}";
  return {
      // ---- views ----
      {{"broadcast", {given("3xf32", {1, 2, 3})}, {"2x3xf32"}, along1}, {{1, 2, 3, 1, 2, 3}}},
      {{"reshape", {six}, {"3x2xf32"}}, {{1, 2, 3, 4, 5, 6}}},
      {{"transpose", {six}, {"3x2xf32"}, "{permutation = array<i64: 1, 0>}"}, {{1, 4, 2, 5, 3, 6}}},
      {{"slice",
        {row},
        {"2xf32"},
        "{starts = array<i64: 1>, limits = array<i64: 5>, strides = array<i64: 2>}"},
       {{3, 2}}},
      {{"pad",
        {given("3xf32", {1, 2, 3}), given("f32", {9})},
        {"6xf32"},
        "{low = array<i64: 2>, high = array<i64: -1>, interior = array<i64: 1>}"},
       {{9, 9, 1, 9, 2, 9}}},
      {{"concatenate", {given("2x1xf32", {7, 8}), six}, {"2x4xf32"}, "{dimension = 1 : i64}"},
       {{7, 1, 2, 3, 8, 4, 5, 6}}},
      {{"reverse", {six}, {"2x3xf32"}, along1}, {{3, 2, 1, 6, 5, 4}}},

      // ---- indexing ----
      {{"gather", {six, given("2x1xi64", {2, 0})}, {"2x2x1xf32"}, "{axis = 1 : i64}"},
       {{3, 1, 6, 4}}},
      {{"scatter",
        {given("3xf32", {1, 2, 3}), given("2xi64", {2, 2}), given("2xf32", {5, 7})},
        {"3xf32"},
        "{axis = 0 : i64, kind = #prim<scatter_kind set>}"},
       {{1, 2, 7}}},
      {{"scatter",
        {given("3xf32", {1, 2, 3}), given("2xi64", {2, 2}), given("2xf32", {5, 7})},
        {"3xf32"},
        "{axis = 0 : i64, kind = #prim<scatter_kind add>}"},
       {{1, 2, 15}}},
      {{"scatter",
        {given("3xf32", {1, 2, 3}), given("2xi64", {2, 2}), given("2xf32", {5, 7})},
        {"3xf32"},
        "{axis = 0 : i64, kind = #prim<scatter_kind mul>}"},
       {{1, 2, 105}}},
      {{"scatter",
        {given("3xf32", {1, 2, 3}), given("2xi64", {1, 2}), given("2xf32", {-5, 7})},
        {"3xf32"},
        "{axis = 0 : i64, kind = #prim<scatter_kind min>}"},
       {{1, -5, 3}}},

      // ---- reductions ----
      {{"reduce sum", {six}, {"3xf32"}, along0}, {{5, 7, 9}}},
      {{"reduce prod", {six}, {"2xf32"}, along1}, {{6, 120}}},
      {{"reduce max", {given("2x2xf32", {1, quietNaN, -infinity, -3})}, {"2xf32"}, along1},
       {{quietNaN, -3}}},
      {{"reduce min", {given("2x2xf32", {quietNaN, 1, infinity, -3})}, {"2xf32"}, along1},
       {{quietNaN, -3}}},
      {{"reduce sum", {empty}, {"2xf32"}, along1}, {{0, 0}}},
      {{"reduce prod", {empty}, {"2xf32"}, along1}, {{1, 1}}},
      {{"reduce max", {empty}, {"2xf32"}, along1}, {{-infinity, -infinity}}},
      {{"reduce min", {given("2x0xi8", {})}, {"2xi8"}, along1}, {{127, 127}}},
      {{"reduce sum", {given("3xi8", {100, 27, 1})}, {"i8"}, along0}, {{-128}}},
      {{"reduce all", {given("2x2xi1", {1, 1, 1, 0})}, {"2xi1"}, along1}, {{1, 0}}},
      {{"reduce any", {given("2x2xi1", {0, 0, 1, 0})}, {"2xi1"}, along1}, {{0, 1}}},
      {{"arg_reduce max", {row}, {"i64"}, "{dimension = 0 : i64}"}, {{4}}},
      {{"arg_reduce max", {given("4xf32", {1, 3, 3, 2})}, {"i64"}, "{dimension = 0 : i64}"}, {{1}}},
      {{"arg_reduce min",
        {given("4xf32", {1, quietNaN, 0, quietNaN})},
        {"i64"},
        "{dimension = 0 : i64}"},
       {{1}}},
      {{"cumulative sum", {six}, {"2x3xf32"}, "{dimension = 1 : i64}"}, {{1, 3, 6, 4, 9, 15}}},
      {{"cumulative prod", {six}, {"2x3xf32"}, "{dimension = 0 : i64}"}, {{1, 2, 3, 4, 10, 18}}},
      {{"cumulative max", {row}, {"5xf32"}, "{dimension = 0 : i64}"}, {{1, 3, 3, 3, 5}}},
      {{"cumulative min", {row}, {"5xf32"}, "{dimension = 0 : i64}"}, {{1, 1, 1, 1, 1}}},
      {{"sort",
        {given("5xf32", {3, quietNaN, 1, 3, 2})},
        {"5xf32", "5xi64"},
        "{dimension = 0 : i64, descending = false}"},
       {{1, 2, 3, 3, quietNaN}, {2, 4, 0, 3, 1}}},
      {{"sort",
        {given("5xf32", {3, quietNaN, 1, 3, 2})},
        {"5xf32", "5xi64"},
        "{dimension = 0 : i64, descending = true}"},
       {{quietNaN, 3, 3, 2, 1}, {1, 0, 3, 4, 2}}},
      {{"sort",
        {given("5xf32", {3, quietNaN, 1, 3, 2})},
        {"3xf32", "3xi64"},
        "{dimension = 0 : i64, descending = true, range = array<i64: 1, 4>}"},
       {{3, 3, 2}, {0, 3, 4}}},
      {{"sort", // of columns
        {given("3x2xf32", {3, 1, 2, 5, 1, 4})},
        {"1x2xf32", "1x2xi64"},
        "{dimension = 0 : i64, descending = false, range = array<i64: 1, 2>}"},
       {{2, 4}, {1, 2}}},
      {{"merge",
        {given("5xf32", {3, quietNaN, 1, 3, 2})},
        {"5xf32", "5xi64"},
        "{dimension = 0 : i64, descending = false, run = 2 : i64}"},
       {{1, 3, 3, quietNaN, 2}, {2, 0, 3, 1, 4}}},

      // ---- windows ----
      {{"reduce_window sum", {row}, {"3xf32"}, windows("3", "2", "1", "1")}, {{4, 8, 7}}},
      {{"reduce_window max", {row}, {"3xf32"}, windows("3", "2", "1", "1")}, {{3, 3, 5}}},
      {{"arg_window", {row}, {"3xi8"}, windows("3", "2", "1", "1")}, {{2, 0, 1}}},
      {{"window_scatter",
        {given("3xi8", {2, 0, 1}), given("3xf32", {1, 10, 100})},
        {"5xf32"},
        "{extents = array<i64: 5>, " + windows("3", "2", "1", "1").substr(1)},
       {{0, 11, 0, 0, 100}}},
      // A window of the padding alone holds no element.
      {{"arg_window", {given("1xi32", {-5})}, {"4xi8"}, windows("1", "1", "1", "2")},
       {{-1, 0, -1, -1}}},
      {{"window_scatter",
        {given("4xi8", {-1, 0, -1, -1}), given("4xf32", {1, 10, 100, 1000})},
        {"1xf32"},
        "{extents = array<i64: 1>, " + windows("1", "1", "1", "2").substr(1)},
       {{10}}},
      // What is outside is not the first of the least elements.
      {{"arg_window",
        {given("2xf32", {-infinity, -infinity})},
        {"3xi8"},
        windows("2", "1", "1", "1")},
       {{1, 0, 0}}},
      {{"reduce_window max", {given("1xui8", {5})}, {"2xui8"}, windows("1", "1", "1", "0")},
       {{0, 5}}},

      // ---- contractions ----
      {{"dot_general",
        {six, given("3xf32", {1, 0, -1})},
        {"2xf32"},
        "{lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, "
        "rhs_contracting = array<i64: 0>}"},
       {{-2, -2}}},
      {{"gemm",
        {given("2x1xf32", {1, 2}), given("1x2xf32", {3, 5}), given("2xf32", {10, 20})},
        {"2x2xf32"},
        "{lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, "
        "rhs_contracting = array<i64: 0>}"},
       {{13, 25, 16, 30}}},
      {{"gemm", // the last column and the first row of the same matrix
        {six, six},
        {"f32"},
        "{lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 0>, "
        "rhs_contracting = array<i64: 0>, views = [memref<2xf32, strided<[3], offset: 2>>, "
        "memref<2xf32, strided<[1]>>]}"},
       {{15}}},
      {{"attention", // weights 1/4 and 3/4; the second query's head sees both keys
        {given("1x2x1x1xf64", {1, 1}), given("1x2x1x1xf64", {0, std::log(3.0)}),
         given("1x2x1x2xf64", {4, 8, 0, 4})},
        {"1x2x1x2xf64", "1x1x2xf64"},
        "{causal = true, scale = 1.0 : f64}"},
       {{4, 8, 1, 5}, {0, std::log(4.0)}}},
      {{"convolution",
        {given("1x1x4xf32", {1, 2, 3, 4}), given("1x1x3xf32", {1, 10, 100})},
        {"1x1x2xf32"},
        conv},
       {{210, 432}}},
      {{"convolution_backward_data",
        {given("1x1x2xf32", {1, 2}), given("1x1x3xf32", {1, 10, 100})},
        {"1x1x4xf32"},
        conv},
       {{10, 102, 20, 200}}},
      {{"convolution_backward_weights",
        {given("1x1x4xf32", {1, 2, 3, 4}), given("1x1x2xf32", {1, 2})},
        {"1x1x3xf32"},
        conv},
       {{4, 7, 10}}},
  };
}

TEST_CASE("the interpreter gives the values of the other primitives") {
  for (const ValueRow &row : makeRows()) {
    INFO(row.op.text());
    std::vector<ReferenceArray> results = Program(row.op.text()).run(row.op.arguments());
    REQUIRE(results.size() == row.expected.size());
    for (size_t i = 0; i < results.size(); ++i)
      CHECK(difference(results[i].values, row.expected[i], 1e-12) == "");
  }
}
