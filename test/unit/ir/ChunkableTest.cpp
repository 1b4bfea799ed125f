// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops give of chunks, put together, is what they give of the whole.
#include "GradientRows.h"
#include "Program.h"

#include "ir/prim/Prim.h"
#include "ir/prim/Tensor.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using namespace accc::test;
using accc::prim::Tensor;

/// Ops without a gradient, which have no row there, and dimensions that the rows there lack.
static std::vector<GradientRow> moreRows() {
  return {
      {"iota", {}, {"2x3xi32"}, "{dimension = 1 : i64}"},
      {"random_bits", {{"2xi64", 0, 0, {0x123456789, 77}}}, {"2x3xui32"}, "{stream = 5 : i64}"},
      {"random_bits", {{"2xi64", 0, 0, {1, 2}}}, {"2xui32"}, "{stream = 5 : i64}"},
      {"constant", {}, {"2x3xi32"}, "dense<7>"},
      {"arg_reduce max", {{"2x4x3xf64"}}, {"2x3xi64"}, "{dimension = 1 : i64}"},
      {"add", {{"2x3xf64"}, {"2x3xf64"}}, {"2x3xf64"}},
      {"broadcast", {{"2x1x3xf64"}}, {"2x4x2x3xf64"}, "{dimensions = array<i64: 0, 1, 3>}"},
      {"reshape", {{"2x3x4x5xf64"}}, {"2x12x1x5xf64"}},
      {"reshape", {{"4x3xf64"}}, {"4x1x3xf64"}},
      {"reshape", {{"2x6xf64"}}, {"6x2xf64"}},
      {"slice",
       {{"3x4xf64"}},
       {"3x2xf64"},
       "{starts = array<i64: 0, 1>, limits = array<i64: 3, 4>, strides = array<i64: 1, 2>}"},
      {"pad",
       {{"2x3xf64"}, {"f64"}},
       {"2x6xf64"},
       "{low = array<i64: 0, 1>, high = array<i64: 0, 2>, interior = array<i64: 0, 0>}"},
      {"pad",
       {{"2x3x2xf64"}, {"f64"}},
       {"3x5x3xf64"},
       "{low = array<i64: 1, 0, 0>, high = array<i64: 0, 0, 1>, interior = array<i64: 0, 1, 0>}"},
      {"concatenate", {{"2x3xf64"}, {"2x1xf64"}}, {"2x4xf64"}, "{dimension = 1 : i64}"},
      {"reverse", {{"2x3x4xf64"}}, {"2x3x4xf64"}, "{dimensions = array<i64: 1>}"},
      {"gather",
       {{"2x4x3xf64"}, {"2x2xi64", 0, 0, {3, 1, 1, 0}}},
       {"2x2x2x3xf64"},
       "{axis = 1 : i64}"},
      {"reduce max", {{"2x3x4xf64"}}, {"2x4xf64"}, "{dimensions = array<i64: 1>}"},
      {"dot_general",
       {{"3x2x4x5xf64"}, {"5x6x2x3xf64"}},
       {"2x3x4x6xf64"},
       "{lhs_batch = array<i64: 1, 0>, rhs_batch = array<i64: 2, 3>, lhs_contracting = array<i64: "
       "3>, "
       "rhs_contracting = array<i64: 0>}"},
      {"gemm",
       {{"2x3x4xf64"}, {"2x4x5x2xf64"}, {"5x2xf64"}},
       {"2x3x5x2xf64"},
       "{lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, "
       "rhs_contracting = array<i64: 1>}"},
  };
}

/// A constant has its value where others have operands.
static std::string textOf(const GradientRow &row) {
  if (row.op != "constant")
    return row.text();
  std::string type = "tensor<" + row.results[0] + ">";
  return "func.func @f() -> " + type + " { %r = prim.constant " + row.attributes + " : " + type +
         " return %r : " + type + " }";
}

static int64_t extentOf(Chunkable op, const ChunkedDimension &dimension) {
  auto extent = [](Value value, int64_t d) {
    return cast<RankedTensorType>(value.getType()).getDimSize(d);
  };
  if (dimension.result)
    return extent(op->getResult(0), *dimension.result);
  for (auto [operand, d] : llvm::zip_equal(op->getOperands(), dimension.operands))
    if (d)
      return extent(operand, *d);
  FAIL("a sum over chunks of nothing");
  return 0;
}

/// Has the function return what the op gives of two chunks of different size, put together.
static void computeInChunks(func::FuncOp function, Chunkable op, const ChunkedDimension &dimension,
                            int64_t extent) {
  Operation *terminator = function.front().getTerminator();
  OpBuilder builder(terminator);
  std::vector<Tensor> given;
  for (Chunk chunk : {Chunk{0, 1}, Chunk{1, extent}}) {
    SmallVector<Value> operands;
    for (auto [operand, d] : llvm::zip_equal(op->getOperands(), dimension.operands)) {
      Tensor all(builder, op->getLoc(), operand);
      operands.push_back(d ? all.sliceDim(*d, chunk.begin, chunk.limit) : all);
    }
    given.emplace_back(builder, op->getLoc(), op.createChunk(builder, dimension, operands, chunk));
  }
  Value result = dimension.result ? prim::concatenate(given, *dimension.result).get()
                                  : (given[0] + given[1]).get();
  terminator->setOperand(0, result);
}

TEST_CASE("chunks of every op, put together, are its value") {
  std::vector<GradientRow> rows = gradientRows();
  llvm::append_range(rows, moreRows());
  llvm::StringSet<> seen;
  for (const GradientRow &row : rows) {
    Program whole(textOf(row));
    auto op = dyn_cast<Chunkable>(&whole.function().getBody().front().front());
    if (!op)
      continue;
    std::vector<ReferenceArray> arguments = row.arguments();
    ReferenceArray expected = whole.run(arguments)[0];
    for (auto [i, dimension] : llvm::enumerate(op.getChunkedDimensions())) {
      int64_t extent = extentOf(op, dimension);
      if (extent < 2)
        continue;
      INFO(textOf(row) << "dimension " << i);
      Program program(textOf(row));
      computeInChunks(program.function(),
                      cast<Chunkable>(program.function().getBody().front().front()), dimension,
                      extent);
      REQUIRE(succeeded(verify(program.function())));
      ReferenceArray found = program.run(arguments)[0];
      CHECK(found.shape == expected.shape);
      CHECK(difference(found.values, expected.values, 1e-13) == ""); // of a sum's order
      seen.insert(op->getName().stripDialect());
    }
  }
  for (RegisteredOperationName name : context().getRegisteredOperations())
    if (name.hasInterface<Chunkable>() && !name.hasInterface<Pointwise>()) {
      INFO(name.getStringRef().str());
      CHECK(seen.contains(name.stripDialect()));
    }
}

TEST_CASE("sums of 16 bits are no sums of parts") {
  for (const GradientRow &row : std::vector<GradientRow>{
           {"reduce sum", {{"2x3xf16"}}, {"2xf16"}, "{dimensions = array<i64: 1>}"},
           {"dot_general",
            {{"2x3xbf16"}, {"3x2xbf16"}},
            {"2x2xbf16"},
            "{lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, "
            "rhs_contracting = array<i64: 0>}"}}) {
    Program program(row.text());
    auto op = cast<Chunkable>(program.function().getBody().front().front());
    for (const ChunkedDimension &dimension : op.getChunkedDimensions())
      CHECK(dimension.result);
  }
}
