// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GradientRows.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

namespace accc::test {

static std::string tensor(const std::string &type) { return "tensor<" + type + ">"; }

std::string GradientRow::text() const {
  std::vector<std::string> arguments, names, types, resultTypes;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    names.push_back(llvm::formatv("%{0}", i));
    types.push_back(tensor(input.type));
    arguments.push_back(names.back() + ": " + types.back());
  }
  for (const std::string &type : results)
    resultTypes.push_back(tensor(type));
  std::string all = llvm::join(resultTypes, ", ");
  std::string returned = "%r";
  for (size_t i = 0; results.size() > 1 && i < results.size(); ++i)
    returned = i == 0 ? "%r#0" : returned + llvm::formatv(", %r#{0}", i).str();
  return llvm::formatv("func.func @f({0}) -> ({1}) {{\n"
                       "  %r{2} = prim.{3} {4} {5} : ({6}) -> ({1})\n  return {7} : {1}\n}\n",
                       llvm::join(arguments, ", "), all,
                       results.size() > 1 ? llvm::formatv(":{0}", results.size()).str() : "", op,
                       llvm::join(names, ", "), attributes, llvm::join(types, ", "), returned);
}

/// The extents of "2x3xf64".
static llvm::SmallVector<int64_t> shapeOf(llvm::StringRef type) {
  llvm::SmallVector<int64_t> shape;
  int64_t extent;
  while (!type.consumeInteger(10, extent)) {
    shape.push_back(extent);
    type.consume_front("x");
  }
  return shape;
}

std::vector<ReferenceArray> GradientRow::arguments() const {
  std::vector<ReferenceArray> arrays;
  double position = 0.37; // of a low-discrepancy sequence: no two values alike
  for (const Input &input : inputs) {
    ReferenceArray &array = arrays.emplace_back(shapeOf(input.type));
    for (size_t i = 0; i < array.values.size(); ++i) {
      position = std::fmod(position + 0.6180339887498949, 1.0);
      array.values[i] = input.values.empty() ? input.low + (input.high - input.low) * position
                                             : input.values[i % input.values.size()];
    }
  }
  return arrays;
}

/// A row of an op with operands and result of one type.
static GradientRow same(std::string op, std::vector<Input> inputs) {
  std::string type = inputs.front().type;
  return {std::move(op), std::move(inputs), {type}};
}

static std::vector<GradientRow> makeRows() {
  auto of = [](double low, double high) { return Input{"5xf64", low, high}; };
  std::string geometry =
      "strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>, "
      "pad_low = array<i64: 1, 0>, pad_high = array<i64: 0, 1>, groups = 2 : i64";
  auto windows = [](const std::string &sizes, const std::string &strides, const std::string &low,
                    const std::string &high) {
    std::string ones = sizes.find(',') == std::string::npos ? "1" : "1, 1";
    return "{window = array<i64: " + sizes + ">, strides = array<i64: " + strides +
           ">, dilations = array<i64: " + ones + ">, pad_low = array<i64: " + low +
           ">, pad_high = array<i64: " + high + ">}";
  };
  std::string straddling = "{window = array<i64: 2>, strides = array<i64: 1>, dilations = "
                           "array<i64: 3>, pad_low = array<i64: 2>, pad_high = array<i64: 2>}";
  std::string window = "{window = array<i64: 1, 2>, strides = array<i64: 1, 1>, "
                       "dilations = array<i64: 1, 2>, pad_low = array<i64: 0, 1>, "
                       "pad_high = array<i64: 0, 0>}";
  return {
      // ---- unary ----
      same("neg", {of(-2, 2)}),
      same("abs", {of(-2, 2)}),
      same("exp", {of(-2, 2)}),
      same("expm1", {of(-2, 2)}),
      same("log", {of(0.1, 3)}),
      same("log1p", {of(-0.9, 3)}),
      same("sqrt", {of(0.1, 3)}),
      same("rsqrt", {of(0.1, 3)}),
      same("sin", {of(-4, 4)}),
      same("cos", {of(-4, 4)}),
      same("asin", {of(-0.9, 0.9)}),
      same("acos", {of(-0.9, 0.9)}),
      same("atan", {of(-3, 3)}),
      same("tanh", {of(-3, 3)}),
      same("logistic", {of(-3, 3)}),
      same("erf", {of(-2, 2)}),
      same("exp", {Input{"f64"}}),
      same("exp", {Input{"0x3xf64"}}),

      // ---- binary ----
      same("add", {of(-2, 2), of(-2, 2)}),
      same("sub", {of(-2, 2), of(-2, 2)}),
      same("mul", {of(-2, 2), of(-2, 2)}),
      same("div", {of(-2, 2), of(0.5, 2)}),
      same("div", {of(-2, 2), of(-2, -0.5)}),
      same("rem", {of(-9, 9), of(1.1, 2)}),
      same("max", {of(-2, 2), of(-2, 2)}),
      same("min", {of(-2, 2), of(-2, 2)}),
      same("pow", {of(0.2, 2), of(-2, 3)}),
      same("atan2", {of(-2, 2), of(-2, 2)}),

      // ---- choice ----
      {"select", {{"5xi1", 0, 1, {0, 1, 1, 0, 1}}, of(-2, 2), of(-2, 2)}, {"5xf64"}},
      {"convert", {of(-2, 2)}, {"5xf32"}},

      // ---- views ----
      {"broadcast", {{"3x1xf64"}}, {"2x3x4xf64"}, "{dimensions = array<i64: 1, 2>}"},
      {"broadcast", {{"f64"}}, {"2x3xf64"}, "{dimensions = array<i64>}"},
      {"reshape", {{"2x6xf64"}}, {"3x4xf64"}},
      {"transpose", {{"2x3x4xf64"}}, {"4x2x3xf64"}, "{permutation = array<i64: 2, 0, 1>}"},
      {"slice",
       {{"5x6xf64"}},
       {"2x3xf64"},
       "{starts = array<i64: 1, 0>, limits = array<i64: 3, 6>, strides = array<i64: 1, 2>}"},
      {"pad",
       {{"2x3xf64"}, {"f64"}},
       {"4x6xf64"},
       "{low = array<i64: 1, -1>, high = array<i64: 1, 2>, interior = array<i64: 0, 1>}"},
      {"pad",
       {{"3x4xf64"}, {"f64"}},
       {"4x2xf64"},
       "{low = array<i64: 2, -1>, high = array<i64: -1, -1>, interior = array<i64: 0, 0>}"},
      {"all_reduce", {{"2x3xf64"}, {"4xf64"}}, {"2x3xf64", "4xf64"}}, // of a group of one
      {"all_reduce", {{"2x3xf64"}, {"4xf64"}}, {"2x3xf64", "4xf64"}, "{sum}"},
      {"concatenate", {{"2x3xf64"}, {"2x1xf64"}}, {"2x4xf64"}, "{dimension = 1 : i64}"},
      {"reverse", {{"2x3xf64"}}, {"2x3xf64"}, "{dimensions = array<i64: 0, 1>}"},

      // ---- matrices ----
      // Of a matrix of one element: the rule is for symmetric changes (MatrixGradientTest.cpp).
      {"cholesky", {{"2x1x1xf64", 0.5, 2}}, {"2x1x1xf64", "2xi32"}, "{check_errors = true}"},
      {"lu", {{"2x3x3xf64"}}, {"2x3x3xf64", "2x3xi32", "2xi32"}, "{check_errors = true}"},
      {"lu", {{"1x2x4xf64"}}, {"1x2x4xf64", "1x2xi32", "1xi32"}, "{check_errors = false}"},
      {"lu", {{"1x4x2xf64"}}, {"1x4x2xf64", "1x2xi32", "1xi32"}, "{check_errors = false}"},
      {"triangular_solve",
       {{"2x3x3xf64", 0.5, 2}, {"2x3x2xf64"}},
       {"2x3x2xf64"},
       "{upper = false, transpose = false, unit = false}"},
      {"triangular_solve",
       {{"2x3x3xf64", 0.5, 2}, {"2x3x2xf64"}},
       {"2x3x2xf64"},
       "{upper = true, transpose = true, unit = false}"},
      {"triangular_solve",
       {{"1x3x3xf64"}, {"1x3x1xf64"}},
       {"1x3x1xf64"},
       "{upper = true, transpose = false, unit = true}"},

      // ---- recurrences ----
      {"linear_recurrence", {{"2x4x5xf64"}, {"2x3x4x5xf64"}}, {"2x4x5xf64"}},
      {"linear_recurrence", {{"1x3x1xf64"}, {"1x2x3x1xf64"}}, {"1x3x1xf64"}},
      {"linear_recurrence", {{"1x3x2xf64"}, {"1x0x3x2xf64"}}, {"1x3x2xf64"}},
      {"log_recurrence", {{"2x4x5xf64"}, {"2x3x4x5xf64"}}, {"2x4x5xf64"}},
      {"log_recurrence", {{"1x3x1xf64"}, {"1x2x3x1xf64"}}, {"1x3x1xf64"}},

      // ---- indexing ----
      {"gather", {{"4x3xf64"}, {"2x2xi64", 0, 0, {3, 1, 1, 0}}}, {"2x2x3xf64"}, "{axis = 0 : i64}"},
      {"scatter",
       {{"4x2xf64"}, {"3xi32", 0, 0, {3, 1, 1}}, {"3x2xf64"}},
       {"4x2xf64"},
       "{axis = 0 : i64, kind = #prim<scatter_kind add>}"},
      {"scatter",
       {{"2x4xf64"}, {"2xi64", 0, 0, {3, 1}}, {"2x2xf64"}},
       {"2x4xf64"},
       "{axis = 1 : i64, kind = #prim<scatter_kind set>}"},
      {"scatter",
       {{"4x2xf64"}, {"5xi32", 0, 0, {3, 1, 1, 0, 1}}, {"5x2xf64"}},
       {"4x2xf64"},
       "{axis = 0 : i64, kind = #prim<scatter_kind max>}"},
      {"scatter",
       {{"2x4xf64"}, {"3xi64", 0, 0, {3, 1, 1}}, {"2x3xf64"}},
       {"2x4xf64"},
       "{axis = 1 : i64, kind = #prim<scatter_kind min>}"},
      // An element of the data ties with an update, and two updates with each other.
      {"scatter",
       {{"3xf64", 0, 0, {2, 0, 3}}, {"3xi64", 0, 0, {0, 1, 1}}, {"3xf64", 0, 0, {2, 5, 5}}},
       {"3xf64"},
       "{axis = 0 : i64, kind = #prim<scatter_kind max>}"},
      {"scatter",
       {{"4x2xf64"}, {"3xi64", 0, 0, {3, 1, 1}}, {"3x2xf64"}},
       {"4x2xf64"},
       "{axis = 0 : i64, kind = #prim<scatter_kind mul>}"},
      // One zero among the data, one among the updates, two that meet.
      {"scatter",
       {{"4xf64", 0, 0, {2, 0, 3, 0}},
        {"5xi64", 0, 0, {0, 1, 3, 2, 2}},
        {"5xf64", 0, 0, {5, 7, 0, 0, 4}}},
       {"4xf64"},
       "{axis = 0 : i64, kind = #prim<scatter_kind mul>}"},

      // ---- reductions ----
      {"reduce sum", {{"2x3x2xf64"}}, {"3xf64"}, "{dimensions = array<i64: 0, 2>}"},
      {"reduce prod", {{"2x3xf64"}}, {"2xf64"}, "{dimensions = array<i64: 1>}"},
      {"reduce prod", {{"3xf64", 0, 0, {2, 0, 3}}}, {"f64"}, "{dimensions = array<i64: 0>}"},
      {"reduce max", {{"2x3xf64"}}, {"2xf64"}, "{dimensions = array<i64: 1>}"},
      {"reduce min", {{"2x3xf64"}}, {"3xf64"}, "{dimensions = array<i64: 0>}"},
      // At a tie of two the central difference is the half that each has.
      {"reduce max",
       {{"2x3xf64", 0, 0, {1, 3, 3, 5, 2, 5}}},
       {"2xf64"},
       "{dimensions = array<i64: 1>}"},
      {"reduce min", {{"4xf64", 0, 0, {2, 1, 4, 1}}}, {"f64"}, "{dimensions = array<i64: 0>}"},
      {"cumulative sum", {{"2x4xf64"}}, {"2x4xf64"}, "{dimension = 1 : i64}"},
      {"cumulative prod", {{"2x4x3xf64"}}, {"2x4x3xf64"}, "{dimension = 1 : i64}"},
      {"cumulative prod",
       {{"6xf64", 0, 0, {2, 3, 0, 5, 0, 7}}},
       {"6xf64"},
       "{dimension = 0 : i64}"},
      {"cumulative max", {{"2x4x3xf64"}}, {"2x4x3xf64"}, "{dimension = 1 : i64}"},
      {"cumulative min", {{"2x5xf64"}}, {"2x5xf64"}, "{dimension = 1 : i64}"},
      {"sort", {{"2x4xf64"}}, {"2x4xf64", "2x4xi64"}, "{dimension = 1 : i64, descending = true}"},
      {"sort",
       {{"2x5x3xf64"}},
       {"2x2x3xf64", "2x2x3xi64"},
       "{dimension = 1 : i64, descending = false, range = array<i64: 1, 3>}"},
      {"merge",
       {{"2x5xf64"}},
       {"2x5xf64", "2x5xi64"},
       "{dimension = 1 : i64, descending = false, run = 1 : i64}"},

      // ---- windows ----
      {"reduce_window sum", {{"2x5xf64"}}, {"2x4xf64"}, window},
      {"reduce_window max", {{"2x5xf64"}}, {"2x4xf64"}, window},
      {"reduce_window min", {{"2x5xf64"}}, {"2x4xf64"}, window},
      {"reduce_window sum",
       {{"2x90xf64"}},
       {"2x18xf64"},
       windows("1, 70", "1, 2", "0, 3", "0, 12")},
      {"reduce_window sum",
       {{"9x150xf64"}},
       {"1x2xf64"},
       windows("8, 70", "9, 75", "0, 1", "0, 0")},
      {"reduce_window sum", {{"12x9xf64"}}, {"2x2xf64"}, windows("9, 8", "4, 5", "1, 0", "1, 5")},
      {"reduce_window sum", {{"70xf64"}}, {"1xf64"}, windows("65", "999", "3", "0")},
      {"window_scatter",
       {{"2x4xi8", 0, 0, {1, 1, 1, 0, 1, 0, 0, 1}}, {"2x4xf64"}},
       {"2x5xf64"},
       "{extents = array<i64: 2, 5>, " + window.substr(1)},
      // The window in the middle straddles the operand; then no window holds an element.
      {"window_scatter",
       {{"3xi8", 0, 0, {1, -1, 0}}, {"3xf64"}},
       {"2xf64"},
       "{extents = array<i64: 2>, " + straddling.substr(1)},
      {"window_scatter",
       {{"1xi8", 0, 0, {-1}}, {"1xf64"}},
       {"0xf64"},
       "{extents = array<i64: 0>, " + straddling.substr(1)},

      // ---- contractions ----
      {"dot_general",
       {{"2x3x4xf64"}, {"4x2x5xf64"}},
       {"2x3x5xf64"},
       "{lhs_batch = array<i64: 0>, rhs_batch = array<i64: 1>, lhs_contracting = array<i64: 2>, "
       "rhs_contracting = array<i64: 0>}"},
      // Two contracted dimensions, in another order on the right.
      {"dot_general",
       {{"2x3x4xf64"}, {"4x3x5xf64"}},
       {"2x5xf64"},
       "{lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1, 2>, "
       "rhs_contracting = array<i64: 1, 0>}"},
      {"gemm",
       {{"2x3x4xf64"}, {"4x2x5x2xf64"}, {"5x2xf64"}},
       {"2x3x5x2xf64"},
       "{lhs_batch = array<i64: 0>, rhs_batch = array<i64: 1>, lhs_contracting = array<i64: 2>, "
       "rhs_contracting = array<i64: 0>}"},
      {"gemm", // of the same rows: a part of each, and with every second of two
               // others
       {{"3x14xf64"}, {"3x14xf64"}},
       {"2x3x3xf64"},
       "{lhs_batch = array<i64: 1>, rhs_batch = array<i64: 1>, lhs_contracting = array<i64: 2>, "
       "rhs_contracting = array<i64: 2>, views = [memref<3x2x3xf64, strided<[14, 3, 1]>>, "
       "memref<3x2x3xf64, strided<[14, 1, 2], offset: 6>>]}"},
      {"attention", // two query heads for each key head; the gradient of its statistics as well
       {{"2x3x4x2xf64"}, {"2x4x2x2xf64"}, {"2x4x2x3xf64"}},
       {"2x3x4x3xf64", "2x4x3xf64"},
       "{causal = false, scale = 7.0e-01 : f64}"},
      {"attention",
       {{"1x4x2x3xf64"}, {"1x3x2x3xf64"}, {"1x3x2x2xf64"}},
       {"1x4x2x2xf64", "1x2x4xf64"},
       "{causal = true, scale = 1.0 : f64}"},
      {"attention", // with a bias, of which the gradient is that of its parts
       {{"2x3x2x2xf64"}, {"2x4x1x2xf64"}, {"2x4x1x2xf64"}, {"1x2x1x4xf64"}},
       {"2x3x2x2xf64", "2x2x3xf64"},
       "{causal = false, scale = 7.0e-01 : f64}"},
      {"attention_backward",
       {{"2x2x2x2xf64"},
        {"2x3x2x2xf64"},
        {"2x3x2x2xf64"},
        {"2x2x2x2xf64"},
        {"2x2x2xf64"},
        {"2x2x2x2xf64"},
        {"2x1x2x3xf64"}},
       {"2x2x2x2xf64", "2x3x2x2xf64", "2x3x2x2xf64"},
       "{causal = false, scale = 7.0e-01 : f64}"},
      {"attention_backward",
       {{"1x3x2x2xf64"},
        {"1x3x1x2xf64"},
        {"1x3x1x2xf64"},
        {"1x3x2x2xf64"},
        {"1x2x3xf64"},
        {"1x3x2x2xf64"}},
       {"1x3x2x2xf64", "1x3x1x2xf64", "1x3x1x2xf64"},
       "{causal = true, scale = 7.0e-01 : f64}"},
      {"strided_attention", // parts of rows, into positions before the batch
       {{"2x3x18xf64"}, {"2x3x18xf64"}, {"2x3x18xf64"}},
       {"3x2x4x3xf64", "2x4x3xf64"},
       "{causal = false, scale = 7.0e-01 : f64, views = ["
       "memref<2x3x4x2xf64, strided<[54, 18, 2, 1]>>, "
       "memref<2x3x2x2xf64, strided<[54, 18, 2, 1], offset: 8>>, "
       "memref<2x3x2x3xf64, strided<[54, 18, 3, 1], offset: 12>>, "
       "memref<2x3x4x3xf64, strided<[12, 24, 3, 1]>>]}"},
      {"strided_attention_backward", // into rows that have all three
       {{"1x3x8xf64"}, {"1x3x8xf64"}, {"1x3x8xf64"}, {"1x3x2x2xf64"}, {"1x2x3xf64"}, {"2x3x2xf64"}},
       {"1x3x8xf64"},
       "{causal = true, places = array<i64: 0, 0, 0>, scale = 7.0e-01 : f64, views = ["
       "memref<1x3x2x2xf64, strided<[24, 8, 2, 1]>>, "
       "memref<1x3x1x2xf64, strided<[24, 8, 2, 1], offset: 4>>, "
       "memref<1x3x1x2xf64, strided<[24, 8, 2, 1], offset: 6>>, "
       "memref<1x3x2x2xf64, strided<[12, 4, 2, 1]>>, "
       "memref<1x3x2x2xf64, strided<[12, 2, 6, 1]>>, "
       "memref<1x3x2x2xf64, strided<[24, 8, 2, 1]>>, "
       "memref<1x3x1x2xf64, strided<[24, 8, 2, 1], offset: 4>>, "
       "memref<1x3x1x2xf64, strided<[24, 8, 2, 1], offset: 6>>]}"},
      {"convolution", {{"2x4x5x5xf64"}, {"2x2x2x2xf64"}}, {"2x2x3x4xf64"}, "{" + geometry + "}"},
      {"convolution",
       {{"1x5x5x4xf64"}, {"2x2x2x2xf64"}},
       {"1x3x4x2xf64"},
       "{" + geometry + ", channels_last = true}"},
      {"convolution",
       {{"1x5x5x4xf64"}, {"4x2x2x2xf64"}},
       {"1x3x4x4xf64"},
       "{" + geometry + ", channels_last = true, filter_channels_last = true}"},
      {"convolution_backward_data",
       {{"2x2x3x4xf64"}, {"2x2x2x2xf64"}},
       {"2x4x5x5xf64"},
       "{" + geometry + "}"},
      {"convolution_backward_data",
       {{"1x3x4x4xf64"}, {"4x2x2x2xf64"}},
       {"1x5x5x4xf64"},
       "{" + geometry + ", channels_last = true, filter_channels_last = true}"},
      {"convolution_backward_weights",
       {{"2x4x5x5xf64"}, {"2x2x3x4xf64"}},
       {"2x2x2x2xf64"},
       "{" + geometry + "}"},
      {"convolution_backward_weights",
       {{"1x5x5x4xf64"}, {"1x3x4x4xf64"}},
       {"4x2x2x2xf64"},
       "{" + geometry + ", channels_last = true, filter_channels_last = true}"},
  };
}

const std::vector<GradientRow> &gradientRows() {
  static const std::vector<GradientRow> rows = makeRows();
  return rows;
}

} // namespace accc::test
