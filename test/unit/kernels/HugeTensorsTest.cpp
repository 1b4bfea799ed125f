// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of more than 2^31 and 2^32 elements, whose places 32 bits do not hold: of each kind of
// kernel the first, the last and some tasks between are run in memory that is mostly not there.
#include "kernels/HugeKernel.h"

#include <catch2/catch.hpp>

#include <cmath>

using accc::test::ElementAt;
using accc::test::HugeCase;
using accc::test::runHugeCase;
using Inputs = llvm::ArrayRef<ElementAt>;

namespace {

// Rows and columns: 2^31 is between 46340 and 46341 squared, 2^32 just below 65537 squared.
constexpr int64_t kRows = 70001, kColumns = 65003, kElements = kRows * kColumns;
const std::string kMatrix = "tensor<70001x65003xf32>", kFlat = "tensor<4550275003xf32>",
                  kNarrow = "tensor<70001x65003xui8>";

/// A function of `arguments` that returns %r, and `more`.
void check(const std::string &arguments, const std::string &body, const std::string &result,
           const HugeCase &test, const std::string &more = "", const std::string &moreType = "") {
  std::string text = "func.func @f(" + arguments + ") -> (" + result + moreType + ") {\n" + body +
                     "\n  return %r" + more + " : " + result + moreType + "\n}\n";
  INFO(text);
  CHECK(runHugeCase(text, test) == "");
}

} // namespace

TEST_CASE("huge tensors: elements") {
  check("%a: " + kFlat + ", %b: " + kFlat,
        "  %r = prim.add %a, %b : (" + kFlat + ", " + kFlat + ") -> " + kFlat, kFlat,
        {.expected = [](Inputs in, int64_t i) { return in[0](i) + in[1](i); }});
  check("%a: " + kNarrow, "  %r = prim.convert %a : (" + kNarrow + ") -> " + kMatrix, kMatrix,
        {.expected = [](Inputs in, int64_t i) { return in[0](i); }});
}

TEST_CASE("huge tensors: broadcasts along rows and columns") {
  check(
      "%a: tensor<70001xf32>, %b: tensor<65003xf32>",
      "  %0 = prim.broadcast %a {dimensions = array<i64: 0>} : (tensor<70001xf32>) -> " + kMatrix +
          "\n  %1 = prim.broadcast %b {dimensions = array<i64: 1>} : (tensor<65003xf32>) -> " +
          kMatrix + "\n  %r = prim.mul %0, %1 : (" + kMatrix + ", " + kMatrix + ") -> " + kMatrix,
      kMatrix,
      {.expected = [](Inputs in, int64_t i) { return in[0](i / kColumns) * in[1](i % kColumns); }});
}

TEST_CASE("huge tensors: transposes") {
  std::string turned = "tensor<65003x70001xf32>";
  check("%a: " + kMatrix,
        "  %r = prim.transpose %a {permutation = array<i64: 1, 0>} : (" + kMatrix + ") -> " +
            turned,
        turned,
        {.expected = [](Inputs in, int64_t i) { return in[0](i % kRows * kColumns + i / kRows); }});
}

TEST_CASE("huge tensors: slices, pads, reversals, concatenations") {
  std::string part = "tensor<34999x64000xf32>";
  check("%a: " + kMatrix,
        "  %0 = prim.slice %a {starts = array<i64: 3, 1001>, limits = array<i64: 70001, 65001>, "
        "strides = array<i64: 2, 1>} : (" +
            kMatrix + ") -> " + part + "\n  %r = prim.neg %0 : (" + part + ") -> " + part,
        part, {.expected = [](Inputs in, int64_t i) {
          return -in[0]((3 + 2 * (i / 64000)) * kColumns + 1001 + i % 64000);
        }});
  std::string padded = "tensor<70004x65005xf32>";
  check("%a: " + kMatrix + ", %v: tensor<f32>",
        "  %r = prim.pad %a, %v {low = array<i64: 1, 2>, high = array<i64: 2, 0>, "
        "interior = array<i64: 0, 0>} : (" +
            kMatrix + ", tensor<f32>) -> " + padded,
        padded, {.expected = [](Inputs in, int64_t i) {
          int64_t row = i / 65005 - 1, column = i % 65005 - 2;
          return row < 0 || row >= kRows || column < 0 ? in[1](0) : in[0](row * kColumns + column);
        }});
  check("%a: " + kMatrix,
        "  %r = prim.reverse %a {dimensions = array<i64: 0, 1>} : (" + kMatrix + ") -> " + kMatrix,
        kMatrix, {.expected = [](Inputs in, int64_t i) { return in[0](kElements - 1 - i); }});
  std::string joined = "tensor<70003x65003xf32>";
  check("%a: " + kMatrix + ", %b: tensor<2x65003xf32>",
        "  %r = prim.concatenate %b, %a {dimension = 0 : i64} : (tensor<2x65003xf32>, " + kMatrix +
            ") -> " + joined,
        joined, {.expected = [](Inputs in, int64_t i) {
          return i < 2 * kColumns ? in[1](i) : in[0](i - 2 * kColumns);
        }});
}

TEST_CASE("huge tensors: other shapes of the same elements") {
  // 70001 * 65003 = 7 * 650039286.14...: rows of another length lie across rows.
  std::string cube = "tensor<65003x70001xf32>", turned = "tensor<70001x65003xf32>";
  check("%a: " + kMatrix,
        "  %0 = prim.exp %a : (" + kMatrix + ") -> " + kMatrix + "\n  %1 = prim.reshape %0 : (" +
            kMatrix + ") -> " + cube +
            "\n  %r = prim.transpose %1 {permutation = array<i64: 1, 0>} : (" + cube + ") -> " +
            turned,
        turned, {.expected = [](Inputs in, int64_t i) {
          return std::exp(in[0](i % kColumns * kRows + i / kColumns));
        }});
}

TEST_CASE("huge tensors: sums of rows, columns and between them") {
  check("%a: " + kMatrix,
        "  %r = prim.reduce max %a {dimensions = array<i64: 1>} : (" + kMatrix +
            ") -> tensor<70001xf32>",
        "tensor<70001xf32>",
        {.expected =
             [](Inputs in, int64_t i) {
               double most = 0;
               for (int64_t j = 0; j < kColumns; ++j)
                 most = std::max(most, in[0](i * kColumns + j));
               return most;
             },
         .mostChecked = 100});
  std::string wide = "tensor<300x15000000xf32>";
  check("%a: " + wide,
        "  %r = prim.reduce sum %a {dimensions = array<i64: 0>} : (" + wide +
            ") -> tensor<15000000xf32>",
        "tensor<15000000xf32>",
        {.expected =
             [](Inputs in, int64_t i) {
               double sum = 0;
               for (int64_t j = 0; j < 300; ++j)
                 sum += in[0](j * 15000000 + i);
               return sum;
             },
         .mostChecked = 5000});
  std::string deep = "tensor<1100x300x15000xf32>";
  check("%a: " + deep,
        "  %r = prim.reduce sum %a {dimensions = array<i64: 1>} : (" + deep +
            ") -> tensor<1100x15000xf32>",
        "tensor<1100x15000xf32>",
        {.expected =
             [](Inputs in, int64_t i) {
               double sum = 0;
               for (int64_t j = 0; j < 300; ++j)
                 sum += in[0]((i / 15000 * 300 + j) * 15000 + i % 15000);
               return sum;
             },
         .mostChecked = 5000});
}

TEST_CASE("huge tensors: rows and what is computed of them") {
  std::string rows = "tensor<4300001x1024xf32>";
  check("%a: " + rows,
        "  %0 = prim.reduce sum %a {dimensions = array<i64: 1>} : (" + rows +
            ") -> tensor<4300001xf32>\n  %1 = prim.broadcast %0 {dimensions = array<i64: 0>} : "
            "(tensor<4300001xf32>) -> " +
            rows + "\n  %r = prim.div %a, %1 : (" + rows + ", " + rows + ") -> " + rows,
        rows,
        {.expected =
             [](Inputs in, int64_t i) {
               double sum = 0;
               for (int64_t j = 0; j < 1024; ++j)
                 sum += in[0](i / 1024 * 1024 + j);
               return in[0](i) / sum;
             },
         .mostChecked = 5000});
}

TEST_CASE("huge tensors: gathers and scatters") {
  std::string table = "tensor<70000000x64xf32>";
  std::vector<int64_t> indices{0, 69999999, 33554431, 33554432, 67108863, 67108864, 1};
  auto gathered = [=](Inputs in, int64_t i) {
    return in[0](indices[static_cast<size_t>(i / 64)] * 64 + i % 64);
  };
  check("%a: " + table + ", %i: tensor<7xi64>",
        "  %r = prim.gather %a, %i {axis = 0 : i64} : (" + table +
            ", tensor<7xi64>) -> tensor<7x64xf32>",
        "tensor<7x64xf32>", {.expected = gathered, .indices = indices});
  check("%a: " + kFlat + ", %i: tensor<3xi64>",
        "  %r = prim.gather %a, %i {axis = 0 : i64} : (" + kFlat +
            ", tensor<3xi64>) -> "
            "tensor<3xf32>",
        "tensor<3xf32>",
        {.expected = [](Inputs in, int64_t i) { return in[0](int64_t(in[1](i))); },
         .indices = {4550275002, 2147483648, 4294967296}});
  std::string updates = "tensor<70000000x3xf32>";
  std::vector<int64_t> places{0, 63, 0};
  check("%a: " + table + ", %u: " + updates + ", %i: tensor<3xi64>",
        "  %r = prim.scatter %a, %i, %u {axis = 1 : i64, kind = #prim<scatter_kind add>} : (" +
            table + ", tensor<3xi64>, " + updates + ") -> " + table,
        table,
        {.expected =
             [=](Inputs in, int64_t i) {
               double sum = in[0](i);
               for (size_t k = 0; k < places.size(); ++k)
                 if (places[k] == i % 64)
                   sum += in[1](i / 64 * 3 + int64_t(k));
               return sum;
             },
         .indices = places});
}

TEST_CASE("huge tensors: scans, sorts and places of the largest") {
  std::string rows = "tensor<70000000x64xf32>";
  check("%a: " + rows,
        "  %r = prim.cumulative sum %a {dimension = 1 : i64} : (" + rows + ") -> " + rows, rows,
        {.expected = [](Inputs in, int64_t i) {
          double sum = 0;
          for (int64_t j = i / 64 * 64; j <= i; ++j)
            sum += in[0](j);
          return sum;
        }});
  check("%a: " + rows,
        "  %r, %p = prim.sort %a {dimension = 1 : i64, descending = true} : (" + rows + ") -> (" +
            rows + ", tensor<70000000x64xi64>)",
        rows,
        {.expected =
             [](Inputs in, int64_t i) {
               std::vector<double> row;
               for (int64_t j = i / 64 * 64; j < i / 64 * 64 + 64; ++j)
                 row.push_back(in[0](j));
               std::sort(row.rbegin(), row.rend());
               return row[static_cast<size_t>(i % 64)];
             },
         .mostChecked = 5000},
        ", %p", ", tensor<70000000x64xi64>");
  check("%a: " + rows, // a place of 0 is taken for not written
        "  %r = prim.arg_reduce max %a {dimension = 1 : i64} : (" + rows +
            ") -> tensor<70000000xi64>",
        "tensor<70000000xi64>",
        {.expected =
             [](Inputs in, int64_t i) {
               int64_t place = 0;
               for (int64_t j = 1; j < 64; ++j)
                 if (in[0](i * 64 + j) > in[0](i * 64 + place))
                   place = j;
               return double(place);
             },
         .mostChecked = 5000});
}

TEST_CASE("huge tensors: windows") {
  std::string images = "tensor<1100x64x256x256xf32>", pooled = "tensor<1100x64x128x128xf32>";
  std::string window = "{window = array<i64: 1, 1, 2, 2>, strides = array<i64: 1, 1, 2, 2>, "
                       "dilations = array<i64: 1, 1, 1, 1>, pad_low = array<i64: 0, 0, 0, 0>, "
                       "pad_high = array<i64: 0, 0, 0, 0>}";
  auto first = [](int64_t i) { // of the four elements of a window
    return i / 16384 * 65536 + i / 128 % 128 * 512 + i % 128 * 2;
  };
  check("%a: " + images,
        "  %r = prim.reduce_window max %a " + window + " : (" + images + ") -> " + pooled, pooled,
        {.expected = [=](Inputs in, int64_t i) {
          int64_t at = first(i);
          return std::max({in[0](at), in[0](at + 1), in[0](at + 256), in[0](at + 257)});
        }});
}

TEST_CASE("huge tensors: numbers of elements") {
  check("",
        "  %0 = prim.iota {dimension = 0 : i64} : () -> tensor<4550275003xi64>\n  %1 = "
        "prim.constant dense<1> : tensor<4550275003xi64>\n  %r = prim.add %0, %1 : "
        "(tensor<4550275003xi64>, tensor<4550275003xi64>) -> tensor<4550275003xi64>",
        "tensor<4550275003xi64>",
        {.expected = [](Inputs, int64_t i) { return double(i + 1); }, .tolerance = 0});
}
