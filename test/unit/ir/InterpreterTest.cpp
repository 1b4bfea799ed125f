// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interpreter itself: structure, typed values, failures.
#include "Program.h"

#include "ir/interfaces/ReferenceValues.h"

#include "mlir/IR/Builders.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace accc;
using namespace accc::test;

TEST_CASE("a value may be used several times and by the same op twice") {
  Program program("func.func @f(%0: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {\n"
                  "  %1 = prim.mul %0, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n"
                  "  %2 = prim.add %1, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n"
                  "  return %2, %1 : tensor<2xf32>, tensor<2xf32>\n}\n");
  auto results = program.run({array({2, -3})});
  CHECK(results[0].values == std::vector<double>{6, 6});
  CHECK(results[1].values == std::vector<double>{4, 9});
}

TEST_CASE("a fusion runs its region, a call its function") {
  Program program("func.func @g(%0: tensor<2xf32>) -> tensor<2xf32> {\n"
                  "  %1 = prim.neg %0 : (tensor<2xf32>) -> tensor<2xf32>\n"
                  "  return %1 : tensor<2xf32>\n}\n"
                  "func.func @f(%0: tensor<2xf32>) -> tensor<2xf32> {\n"
                  "  %1 = prim.fusion loop \"twice\" (%0) : (tensor<2xf32>) -> tensor<2xf32> {\n"
                  "  ^bb0(%a: tensor<2xf32>):\n"
                  "    %b = prim.add %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n"
                  "    prim.yield %b : tensor<2xf32>\n"
                  "  }\n"
                  "  %2 = func.call @g(%1) : (tensor<2xf32>) -> tensor<2xf32>\n"
                  "  return %2 : tensor<2xf32>\n}\n");
  CHECK(program.run({array({1, -2})})[0].values == std::vector<double>{-2, 4});
}

TEST_CASE("a composite runs as what it decomposes into, and stays as it was") {
  Program program("func.func @f(%0: tensor<3xf32>) -> tensor<3xf32> {\n"
                  "  %1 = nn.relu %0 : (tensor<3xf32>) -> tensor<3xf32>\n"
                  "  return %1 : tensor<3xf32>\n}\n");
  CHECK(program.run({array({1, -2, 0})})[0].values == std::vector<double>{1, 0, 0});
  mlir::Operation &op = program.function().getBody().front().front();
  CHECK(op.getName().getStringRef() == "nn.relu");
}

TEST_CASE("constants, iota and random bits") {
  Program program(
      "func.func @f(%key: tensor<2xi64>) -> (tensor<3xi1>, tensor<2x2xui8>, tensor<2x3xf16>, "
      "tensor<4xui32>) {\n"
      "  %0 = prim.constant dense<[true, false, true]> : tensor<3xi1>\n"
      "  %1 = prim.constant dense<[[255, 0], [1, 128]]> : tensor<2x2xui8>\n"
      "  %2 = prim.iota {dimension = 1 : i64} : () -> tensor<2x3xf16>\n"
      "  %3 = prim.random_bits %key {stream = 7 : i64} : (tensor<2xi64>) -> tensor<4xui32>\n"
      "  return %0, %1, %2, %3 : tensor<3xi1>, tensor<2x2xui8>, tensor<2x3xf16>, "
      "tensor<4xui32>\n}\n");
  auto results = program.run({array({0, 0})});
  CHECK(results[0].values == std::vector<double>{1, 0, 1});
  CHECK(results[1].values == std::vector<double>{255, 0, 1, 128});
  CHECK(results[2].values == std::vector<double>{0, 1, 2, 0, 1, 2});
  for (double bits : results[3].values)
    CHECK((bits >= 0 && bits < 0x1p32));
  // Another step, other bits; the same step, the same.
  CHECK(program.run({array({0, 1})})[3].values != results[3].values);
  CHECK(program.run({array({0, 0})})[3].values == results[3].values);
}

TEST_CASE("random bits are Philox 4x32-10") {
  // The authors' known answer for counter and key 0 begins with the word 6627e8d5.
  Program program(
      "func.func @f(%key: tensor<2xi64>) -> tensor<1xui32> {\n"
      "  %0 = prim.random_bits %key {stream = 0 : i64} : (tensor<2xi64>) -> tensor<1xui32>\n"
      "  return %0 : tensor<1xui32>\n}\n");
  CHECK(program.run({array({0, 0})})[0].values[0] == 0x6627e8d5);
}

TEST_CASE("failures name the op") {
  Program gather("func.func @f(%0: tensor<2xf32>, %1: tensor<1xi64>) -> tensor<1xf32> {\n"
                 "  %2 = prim.gather %0, %1 {axis = 0 : i64} : (tensor<2xf32>, tensor<1xi64>) -> "
                 "tensor<1xf32>\n"
                 "  return %2 : tensor<1xf32>\n}\n");
  CHECK(gather.failure({array({1, 2}), array({1})}) == "");
  CHECK(gather.failure({array({1, 2}), array({2})}).find("prim.gather") != std::string::npos);
  CHECK(gather.failure({array({1, 2})}).find("takes 2 arguments") != std::string::npos);
  CHECK(gather.failure({array({1, 2, 3}), array({1})}).find("argument 0") != std::string::npos);
}

TEST_CASE("typed bytes and attributes hold what they can") {
  mlir::Builder builder(&context());
  double inf = std::numeric_limits<double>::infinity();
  struct Row {
    mlir::Type type;
    std::vector<double> values, held;
  };
  for (const Row &row : std::vector<Row>{
           {builder.getF32Type(), {0.1, -inf}, {0.1f, -inf}},
           {builder.getF64Type(), {0.1, -inf}, {0.1, -inf}},
           {builder.getF16Type(), {1.0 / 3, 1e6}, {0.333251953125, inf}},
           {builder.getBF16Type(), {1.0 / 3, 257}, {0.333984375, 256}},
           {builder.getI1Type(), {0, 5}, {0, 1}},
           {builder.getI8Type(), {-1, 128}, {-1, -128}},
           {builder.getIntegerType(8, false), {-1, 300}, {255, 44}},
           {builder.getI64Type(), {-1, 0x1p52}, {-1, 0x1p52}},
       }) {
    auto type = mlir::RankedTensorType::get({2}, row.type);
    CHECK(fromBytes(type, toBytes(array(row.values), type)).values == row.held);
    CHECK(toReference(toElements(array(row.values), type)).values == row.held);
    for (size_t i = 0; i < 2; ++i)
      CHECK(roundToElement(row.type, row.values[i]) == row.held[i]);
  }
}
