// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/OpRows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace accc::test {

namespace {
// How many of the 13 element types are any, numbers, floats, integers, integers or booleans.
constexpr int kAny = 13, kNumber = 12, kFloat = 4, kInteger = 8, kBits = 9, kBool = 1;

// Rank 0, no elements, one element in two dimensions, and all pairs of twelve edges: one more than
// a multiple of any vector's width.
const std::vector<std::string> kShapes = {"", "0x3x", "1x1x", "145x"};

std::string windows(const char *window, const char *strides, const char *dilations, const char *low,
                    const char *high) {
  std::string colon = *window ? ": " : ""; // of rank 0 they are empty
  return llvm::formatv("{{window = array<i64{5}{0}>, strides = array<i64{5}{1}>, dilations = "
                       "array<i64{5}{2}>, pad_low = array<i64{5}{3}>, pad_high = array<i64{5}{4}>}",
                       window, strides, dilations, low, high, colon);
}

/// The attributes of windows with the extents of a tensor, as in "2x3x".
std::string withExtents(const std::string &attributes, const char *shape) {
  std::string extents;
  for (char c : std::string(shape))
    extents += c == 'x' ? ", " : std::string(1, c);
  if (!extents.empty())
    extents = ": " + extents.substr(0, extents.size() - 2);
  return "{extents = array<i64" + extents + ">, " + attributes.substr(1);
}

OpRow unary(const char *op, int accepts) { return {op, {"$S$T"}, {"$S$T"}, accepts, "", kShapes}; }
OpRow binary(const char *op, int accepts) {
  return {op, {"$S$T", "$S$T"}, {"$S$T"}, accepts, "", kShapes};
}

std::vector<OpRow> pointwise() {
  std::vector<OpRow> rows;
  for (const char *op : {"exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "sin", "cos", "asin",
                         "acos", "atan", "tanh", "logistic", "erf", "floor", "ceil", "round_even"})
    rows.push_back(unary(op, kFloat));
  for (const char *op : {"neg", "abs", "sign"})
    rows.push_back(unary(op, kNumber));
  rows.push_back(unary("not", kBits));
  rows.push_back(unary("all_reduce", kFloat)); // of a group of one
  rows.push_back(unary("broadcast_from", kAny));
  rows.push_back({"is_finite", {"$S$T"}, {"$Si1"}, kFloat, "", kShapes});
  for (const char *op : {"add", "sub", "mul", "div", "rem", "max", "min"})
    rows.push_back(binary(op, kNumber));
  for (const char *op : {"pow", "atan2"})
    rows.push_back(binary(op, kFloat));
  for (const char *op : {"and", "or", "xor"})
    rows.push_back(binary(op, kBits));
  for (const char *op : {"shift_left", "shift_right"})
    rows.push_back(binary(op, kInteger));
  rows.push_back({"compare $K",
                  {"$S$T", "$S$T"},
                  {"$Si1"},
                  kAny,
                  "",
                  {"", "145x"},
                  {"eq", "ne", "lt", "le", "gt", "ge"}});
  rows.push_back({"select", {"$Si1", "$S$T", "$S$T"}, {"$S$T"}, kAny, "", kShapes});
  rows.push_back({"convert", {"13x$T"}, {"13x$U"}, kAny});
  rows.push_back({"bitcast", {"13x$T"}, {"13x$U"}, kNumber});
  return rows;
}

std::vector<OpRow> views() {
  std::string one = "{axis = 1 : i64}", zero = "{axis = 0 : i64}";
  return {
      {"constant", {}, {"3x$T"}, kAny},
      {"iota", {}, {"3x37x$T"}, kNumber, "{dimension = 1 : i64}"},
      {"iota", {}, {"37x3x$T"}, kNumber, "{dimension = 0 : i64}"},
      {"random_bits",
       {{"2xi64", Fill::Small}},
       {"3x21xui32"},
       0, // it has no $T
       "{stream = 5 : i64}"},
      {"broadcast", {"$T"}, {"5x7x$T"}, kAny, "{dimensions = array<i64>}"},
      {"broadcast", {"1x7x$T"}, {"3x5x7x$T"}, kAny, "{dimensions = array<i64: 1, 2>}"},
      {"broadcast", {"0x$T"}, {"3x0x$T"}, kAny, "{dimensions = array<i64: 1>}"},
      {"reshape", {"6x7x$T"}, {"21x2x$T"}, kAny},
      {"reshape", {"1x1x$T"}, {"$T"}, kAny},
      {"reshape", {"4x0x$T"}, {"0x9x$T"}, kAny},
      {"transpose", {"5x1x19x$T"}, {"19x5x1x$T"}, kAny, "{permutation = array<i64: 2, 0, 1>}"},
      {"transpose", {"0x3x$T"}, {"3x0x$T"}, kAny, "{permutation = array<i64: 1, 0>}"},
      {"slice",
       {"5x40x$T"},
       {"2x19x$T"},
       kAny,
       "{starts = array<i64: 1, 2>, limits = array<i64: 5, 40>, strides = array<i64: 2, 2>}"},
      {"slice",
       {"5x4x$T"},
       {"5x0x$T"},
       kAny,
       "{starts = array<i64: 0, 4>, limits = array<i64: 5, 4>, strides = array<i64: 1, 1>}"},
      {"pad",
       {"3x9x$T", {"$T", Fill::Units}},
       {"5x21x$T"},
       kAny,
       "{low = array<i64: 1, 3>, high = array<i64: 1, 1>, interior = array<i64: 0, 1>}"},
      {"pad",
       {"0x$T", {"$T", Fill::Units}},
       {"5x$T"},
       kAny,
       "{low = array<i64: 2>, high = array<i64: 3>, interior = array<i64: 1>}"},
      {"pad",
       {"9x$T", {"$T", Fill::Units}},
       {"6x$T"},
       kAny,
       "{low = array<i64: -2>, high = array<i64: -1>, interior = array<i64: 0>}"},
      {"concatenate", {"3x5x$T", "3x0x$T", "3x30x$T"}, {"3x35x$T"}, kAny, "{dimension = 1 : i64}"},
      {"reverse", {"3x35x$T"}, {"3x35x$T"}, kAny, "{dimensions = array<i64: 0, 1>}"},
      {"gather",
       {"11x20x$T", {"3x5x$K", Fill::Index, 11}},
       {"3x5x20x$T"},
       kAny,
       zero,
       {""},
       {"i32", "i64"}},
      {"gather",
       {"4x11x$T", {"37x$K", Fill::Index, 11}},
       {"4x37x$T"},
       kAny,
       one,
       {""},
       {"i32", "i64"}},
      {"gather", {"4x11x$T", {"i64", Fill::Index, 11}}, {"4x$T"}, kAny, one},
      {"gather", {"0x3x$T", {"0xi64", Fill::Index, 1}}, {"0x3x$T"}, kAny, zero},
      {"gather", {"5x3x$T", {"0xi64", Fill::Index, 1}}, {"0x3x$T"}, kAny, zero},
  };
}

/// Sums and extremes of small numbers or edges, products of units: a row for the kinds of each.
void addReductions(std::vector<OpRow> &rows, const std::string &op, const std::string &operand,
                   const std::string &result, const std::string &attributes) {
  auto add = [&](Fill fill, std::vector<std::string> kinds, int accepts) {
    rows.push_back({op + " $K",
                    {{operand.c_str(), fill}},
                    {result},
                    accepts,
                    attributes,
                    {""},
                    std::move(kinds)});
  };
  add(Fill::Small, {"sum"}, kNumber);
  add(Fill::Units, {"prod"}, kNumber);
  add(Fill::Edges, {"max", "min"}, kNumber);
}

std::vector<OpRow> reductions() {
  std::vector<OpRow> rows;
  struct Form {
    const char *operand, *result, *dimensions;
  };
  for (auto [operand, result, dimensions] :
       {Form{"5x37x$T", "5x$T", "1"}, Form{"37x21x$T", "21x$T", "0"}, Form{"70x5x$T", "5x$T", "0"},
        Form{"3x5x7x$T", "5x$T", "0, 2"}, Form{"13x$T", "$T", "0"}, Form{"1x$T", "$T", "0"},
        Form{"5x0x$T", "5x$T", "1"}, Form{"5x0x$T", "0x$T", "0"}}) {
    std::string attributes = llvm::formatv("{{dimensions = array<i64: {0}>}", dimensions);
    addReductions(rows, "reduce", operand, result, attributes);
    rows.push_back({"reduce $K", {operand}, {result}, kBool, attributes, {""}, {"all", "any"}});
  }
  for (auto [operand, result, dimension] :
       {Form{"5x30x$T", "5xi64", "1"}, Form{"13x4x$T", "4xi64", "0"}, Form{"1x$T", "i64", "0"},
        Form{"0x3x$T", "0xi64", "1"}, Form{"150x$T", "i64", "0"},
        Form{"2x128x1x$T", "2x1xi64", "1"}, Form{"2x9x70x$T", "2x70xi64", "1"}})
    rows.push_back({"arg_reduce $K",
                    {operand},
                    {result},
                    kNumber,
                    llvm::formatv("{{dimension = {0} : i64}", dimension),
                    {""},
                    {"max", "min"}});
  for (auto [operand, result, dimension] :
       {Form{"5x30x$T", "5x30x$T", "1"}, Form{"13x4x$T", "13x4x$T", "0"}, Form{"1x$T", "1x$T", "0"},
        Form{"3x0x$T", "3x0x$T", "1"}, Form{"2x9x70x$T", "2x9x70x$T", "1"}})
    addReductions(rows, "cumulative", operand, result,
                  llvm::formatv("{{dimension = {0} : i64}", dimension));
  for (auto [operand, result, dimension] :
       {Form{"3x26x$T", "3x26xi64", "1"}, Form{"14x3x$T", "14x3xi64", "0"},
        Form{"2x150x$T", "2x150xi64", "1"}, Form{"1x$T", "1xi64", "0"},
        Form{"0x3x$T", "0x3xi64", "1"}})
    // Runs of one element are sorted, whatever they are; longer ones are in MergesTest.cpp.
    for (auto [op, runs] : {std::pair("sort", ""), std::pair("merge", ", run = 1 : i64")})
      rows.push_back(
          {op,
           {operand},
           {operand, result},
           kNumber,
           llvm::formatv("{{dimension = {0} : i64, descending = $K{1}}", dimension, runs),
           {""},
           {"true", "false"}});
  // The first few of a row that is as long as that is worth a heap, some in the middle, the last.
  struct Part {
    const char *operand, *count, *dimension, *range;
  };
  for (auto [operand, count, dimension, range] :
       {Part{"3x26x$T", "3x9x", "1", "4, 13"}, Part{"2x400x$T", "2x5x", "1", "0, 5"},
        Part{"2x150x$T", "2x60x", "1", "0, 60"}, Part{"150x3x$T", "40x3x", "0", "50, 90"},
        Part{"2x150x$T", "2x1x", "1", "75, 76"}, Part{"2x150x$T", "2x30x", "1", "120, 150"},
        Part{"2x70x$T", "2x0x", "1", "5, 5"}})
    rows.push_back({"sort",
                    {operand},
                    {std::string(count) + "$T", std::string(count) + "i64"},
                    kNumber,
                    llvm::formatv("{{dimension = {0} : i64, descending = $K, range = "
                                  "array<i64: {1}>}",
                                  dimension, range),
                    {""},
                    {"true", "false"}});
  return rows;
}

std::vector<OpRow> scatters() {
  std::vector<OpRow> rows;
  struct Form {
    const char *data, *indices, *updates;
    int64_t extent, axis;
  };
  for (const Form &form :
       {Form{"7x20x$T", "3x5xi64", "3x5x20x$T", 7, 0}, Form{"4x7x$T", "12xi32", "4x12x$T", 7, 1},
        Form{"7x$T", "i64", "$T", 7, 0}, Form{"7x3x$T", "0xi64", "0x3x$T", 7, 0},
        Form{"0x3x$T", "0xi64", "0x3x$T", 1, 0}}) {
    auto add = [&](Fill fill, std::vector<std::string> kinds) {
      rows.push_back(
          {"scatter",
           {{form.data, fill}, {form.indices, Fill::Index, form.extent}, {form.updates, fill}},
           {form.data},
           kAny,
           llvm::formatv("{{axis = {0} : i64, kind = #prim<scatter_kind $K>}", form.axis),
           {""},
           std::move(kinds)});
    };
    add(Fill::Edges, {"set", "max", "min"});
    add(Fill::Small, {"add"});
    add(Fill::Units, {"mul"});
  }
  return rows;
}

std::vector<OpRow> windowOps() {
  struct Form {
    const char *operand, *positions;
    std::string attributes;
  };
  std::vector<OpRow> rows;
  for (const Form &form : {
           Form{"2x8x9x", "2x4x5x", windows("1, 3, 3", "1, 2, 2", "1, 1, 1", "0, 1, 1", "0, 1, 1")},
           // lanes along an innermost dimension that windows do not cross
           Form{"9x5x", "5x5x", windows("3, 1", "2, 1", "1, 1", "1, 0", "1, 0")},
           Form{"7x40x", "3x40x", windows("2, 1", "2, 1", "2, 1", "0, 0", "0, 0")},
           // windows that straddle the operand or lie in the padding altogether
           Form{"2x", "3x", windows("2", "1", "3", "2", "2")},
           Form{"3x2x11x", "3x3x11x",
                windows("1, 2, 1", "1, 1, 1", "1, 3, 1", "0, 2, 0", "0, 2, 0")},
           Form{"1x3x", "5x7x", windows("1, 1", "1, 1", "1, 1", "2, 2", "2, 2")},
           Form{"0x3x", "2x3x", windows("2, 1", "1, 1", "1, 1", "1, 0", "2, 0")},
           // no window fits
           Form{"4x3x", "0x3x", windows("6, 1", "3, 1", "1, 1", "0, 0", "1, 0")},
           Form{"", "", windows("", "", "", "", "")},
       }) {
    std::string operand = std::string(form.operand) + "$T", result = form.positions;
    rows.push_back({"reduce_window $K",
                    {{operand.c_str(), Fill::Small}},
                    {result + "$T"},
                    kNumber,
                    form.attributes,
                    {""},
                    {"sum"}});
    rows.push_back({"reduce_window $K",
                    {operand.c_str()},
                    {result + "$T"},
                    kNumber,
                    form.attributes,
                    {""},
                    {"max", "min"}});
    rows.push_back(
        {"window_scatter",
         {{(result + "i8").c_str(), Fill::Index, 9}, {(result + "$T").c_str(), Fill::Small}},
         {operand},
         kFloat,
         withExtents(form.attributes, form.operand)});
    rows.push_back({"arg_window", {operand.c_str()}, {result + "i8"}, kNumber, form.attributes});
  }
  return rows;
}

/// Matrices of one element, of all edges; KernelsTest.cpp has larger ones, whose elements are
/// rounded relative to the whole.
std::vector<OpRow> matrices() {
  return {
      {"cholesky",
       {"145x1x1x$T"},
       {"145x1x1x$T", "145xi32"},
       2,
       "{check_errors = $K}",
       {""},
       {"true", "false"}},
      {"cholesky", {"2x0x0x$T"}, {"2x0x0x$T", "2xi32"}, 2, "{check_errors = true}"},
      {"lu",
       {"145x1x1x$T"},
       {"145x1x1x$T", "145x1xi32", "145xi32"},
       2,
       "{check_errors = $K}",
       {""},
       {"true", "false"}},
      {"lu", {"0x3x5x$T"}, {"0x3x5x$T", "0x3xi32", "0xi32"}, 2, "{check_errors = true}"},
      {"pivoted_rows", {{"2x3xi32", Fill::Index, 3}}, {"2x3xi64"}, 0, "{rows = 3 : i64}"},
      {"triangular_solve",
       {"145x1x1x$T", "145x1x1x$T"},
       {"145x1x1x$T"},
       2,
       "{upper = false, transpose = false, unit = $K}",
       {""},
       {"true", "false"}},
      {"triangular_solve",
       {"2x3x3x$T", "2x3x0x$T"},
       {"2x3x0x$T"},
       2,
       "{upper = true, transpose = false, unit = false}"},
      {"householder", {"145x1x1x$T"}, {"145x1x1x$T", "145x1x$T"}, 2},
      {"jacobi_eigh", {"145x1x1x$T"}, {"145x1x1x$T", "145x1x1x$T"}, 2},
      {"jacobi_svd", {"145x1x1x$T"}, {"145x1x1x$T", "145x1x1x$T"}, 2},
      {"linear_recurrence", {"3x5x7x$T", "3x3x5x7x$T"}, {"3x5x7x$T"}, 2},
      {"log_recurrence", {"3x5x7x$T", "3x3x5x7x$T"}, {"3x5x7x$T"}, 2},
      {"log_recurrence", {"2x3x1x$T", "2x2x3x1x$T"}, {"2x3x1x$T"}, 2},
      {"linear_recurrence", {"2x3x4x$T", "2x0x3x4x$T"}, {"2x3x4x$T"}, 2},
      {"linear_recurrence", {"2x0x4x$T", "2x2x0x4x$T"}, {"2x0x4x$T"}, 2},
  };
}

std::vector<OpRow> contractions() {
  auto dot = [](const char *a, const char *b, const char *result, const char *batch) -> OpRow {
    return {"dot_general",
            {{a, Fill::Small}, {b, Fill::Small}},
            {result},
            kFloat,
            llvm::formatv("{{lhs_batch = array<i64{0}>, rhs_batch = array<i64{0}>, "
                          "lhs_contracting = array<i64: {1}>, rhs_contracting = array<i64: {2}>}",
                          batch, *batch ? 2 : 1, *batch ? 1 : 0)};
  };
  std::string geometry = "{strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>, pad_low = "
                         "array<i64: 1, 0>, pad_high = array<i64: 0, 2>, groups = 2 : i64, "
                         "channels_last = $K}";
  std::vector<OpRow> rows = {dot("7x12x$T", "12x5x$T", "7x5x$T", ""),
                             dot("12x$T", "12x$T", "$T", ""), dot("4x0x$T", "0x3x$T", "4x3x$T", ""),
                             dot("3x7x12x$T", "3x12x5x$T", "3x7x5x$T", ": 0")};
  rows[1].attributes = "{lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = "
                       "array<i64: 0>, rhs_contracting = array<i64: 0>}";
  for (size_t i : {0, 2, 3}) { // the same with a bias of the columns
    OpRow row = rows[i];
    row.op = "gemm";
    row.operands.push_back({i == 2 ? "3x$T" : "5x$T", Fill::Small});
    rows.push_back(row);
  }
  for (const char *op : {"dot_general", "gemm"}) { // 16-bit factors with sums of f32
    OpRow row = dot("7x12x$T", "12x5x$T", "7x5xf32", "");
    row.op = op;
    row.accepts = 2;
    row.attributes.insert(row.attributes.size() - 1, ", wide_result");
    if (row.op == "gemm")
      row.operands.push_back({"5xf32", Fill::Small});
    rows.push_back(row);
  }
  // Two heads of 4 beside two others, as rows and transposed; those of every second row.
  for (auto [rhs, views] :
       {std::pair("3x16x$T", "memref<3x2x4x$T, strided<[16, 4, 1]>>, "
                             "memref<4x2x3x$T, strided<[1, 4, 16], offset: 8>>"),
        std::pair("6x8x$T", "memref<3x2x4x$T, strided<[16, 8, 1], offset: 4>>, "
                            "memref<4x2x3x$T, strided<[1, 4, 16], offset: 8>>")})
    rows.push_back({"gemm",
                    {{"3x16x$T", Fill::Small}, {rhs, Fill::Small}},
                    {"2x3x3x$T"},
                    kFloat,
                    llvm::formatv("{{lhs_batch = array<i64: 1>, rhs_batch = array<i64: 1>, "
                                  "lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: "
                                  "0>, views = [{0}]}",
                                  views)});
  for (bool last : {false, true}) {
    const char *x = last ? "2x8x7x4x$T" : "2x4x8x7x$T", *y = last ? "2x4x5x6x$T" : "2x6x4x5x$T",
               *w = "6x2x3x3x$T";
    std::vector<std::string> layout = {last ? "true" : "false"};
    auto add = [&](const char *op, const char *a, const char *b, const char *result) {
      rows.push_back(
          {op, {{a, Fill::Small}, {b, Fill::Small}}, {result}, kFloat, geometry, {""}, layout});
    };
    add("convolution", x, w, y);
    add("convolution_backward_data", y, w, x);
    add("convolution_backward_weights", x, y, w);
  }
  return rows;
}

} // namespace

bool OpRow::mentions(llvm::StringRef placeholder) const {
  auto contains = [&](llvm::StringRef text) { return text.contains(placeholder); };
  return contains(op) || contains(attributes) || llvm::any_of(results, contains) ||
         llvm::any_of(operands, [&](const OperandForm &form) { return contains(form.type); });
}

const std::vector<OpRow> &opRows() {
  static const std::vector<OpRow> rows = [] {
    std::vector<OpRow> all = pointwise();
    for (auto part : {views(), reductions(), scatters(), windowOps(), matrices(), contractions()})
      llvm::append_range(all, part);
    return all;
  }();
  return rows;
}

} // namespace accc::test
