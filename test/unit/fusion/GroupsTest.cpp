// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What --form-fusions makes one kernel, each time beside what nearly is: one op more, another
// dimension, another shape.
#include "fusion/Groups.h"
#include "fusion/Passes.h"
#include "ir/prim/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using namespace accc::prim;

namespace {

/// A function, and the kernels that it becomes.
class Graph {
public:
  Graph() : context(MLIRContext::Threading::DISABLED), builder(&context) {
    context.loadDialect<func::FuncDialect, PrimDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
    function =
        builder.create<func::FuncOp>(builder.getUnknownLoc(), "f", builder.getFunctionType({}, {}));
    builder.setInsertionPointToEnd(function.addEntryBlock());
  }

  Tensor argument(ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, builder.getF32Type());
    return Tensor(builder, builder.getUnknownLoc(),
                  function.front().addArgument(type, builder.getUnknownLoc()));
  }

  /// Ends the function and counts its kernels after the pass.
  int64_t kernels(ArrayRef<Tensor> results) {
    SmallVector<Value> values(results.begin(), results.end());
    builder.create<func::ReturnOp>(builder.getUnknownLoc(), values);
    function.setType(builder.getFunctionType(function.front().getArgumentTypes(),
                                             ValueRange(values).getTypes()));
    PassManager passes(&context);
    passes.addNestedPass<func::FuncOp>(createFormFusionsPass());
    REQUIRE(succeeded(passes.run(*module)));
    return llvm::range_size(function.front().getOps<FusionOp>());
  }

private:
  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
};

Tensor matmul(Tensor a, Tensor b) { return dotGeneral(a, b, {}, {}, {1}, {0}); }

// Large enough that two kernels share the reading of it.
const SmallVector<int64_t> kSquare{64, 64};

} // namespace

TEST_CASE("a kernel has at most 96 ops") {
  for (int64_t ops : {96, 97}) {
    Graph graph;
    Tensor x = graph.argument(kSquare);
    for (int64_t i = 0; i < ops; ++i)
      x = -x;
    CHECK(graph.kernels(x) == (ops <= 96 ? 1 : 2));
  }
}

TEST_CASE("a kernel evaluates at most 16 elementary functions") {
  for (int64_t ops : {16, 17}) {
    Graph graph;
    Tensor x = graph.argument(kSquare);
    for (int64_t i = 0; i < ops; ++i)
      x = tanh(x);
    CHECK(graph.kernels(x) == (ops <= 16 ? 1 : 2));
  }
}

TEST_CASE("a kernel reads and writes at most 32 buffers") {
  for (bool broadcast : {false, true}) // what is broadcast is read, too
    for (int64_t read : {31, 32}) {
      Graph graph;
      auto operand = [&] {
        return broadcast ? graph.argument({64}).broadcast(kSquare, {1}) : graph.argument(kSquare);
      };
      Tensor x = -operand();
      for (int64_t i = 1; i < read; ++i)
        x = x + operand();
      INFO(read << (broadcast ? " rows" : " matrices"));
      CHECK(graph.kernels(x) == (read <= 31 ? 1 : 2));
    }
}

TEST_CASE("a kernel computes nothing expensive twice, and nothing else often") {
  for (bool turned : {false, true}) {
    Graph graph;
    Tensor y = tanh(graph.argument(kSquare));
    CHECK(graph.kernels(y + y.transpose(turned ? ArrayRef<int64_t>{1, 0}
                                               : ArrayRef<int64_t>{0, 1})) == (turned ? 2 : 1));
  }
  // Each of some windows of a value computes all that leads to it.
  for (int64_t count : {4, 10}) {
    Graph graph;
    Tensor y = graph.argument({256});
    for (int64_t i = 0; i < count; ++i)
      y = -y;
    Tensor total = y.sliceDim(0, 0, 128);
    for (int64_t i = 1; i < count; ++i)
      total = total + y.sliceDim(0, i, 128 + i);
    INFO(count);
    CHECK((graph.kernels(total) == 1) == (count == 4));
  }
}

TEST_CASE("reductions are one kernel over one space and the same dimensions") {
  SmallVector<int64_t> wide{64, 128};
  for (int64_t dimension : {1, 0}) {
    Graph graph;
    Tensor x = graph.argument(kSquare);
    CHECK(graph.kernels({sum(x, {1}), reduce(ReduceKind::max, x, {dimension})}) ==
          (dimension == 1 ? 1 : 2));
  }
  for (int64_t columns : {128, 96}) {
    Graph graph;
    Tensor x = graph.argument(wide);
    Tensor part = x.slice({0, 0}, {64, columns});
    CHECK(graph.kernels({sum(x, {1}), reduce(ReduceKind::max, part, {1})}) ==
          (columns == 128 ? 1 : 2));
  }
}

TEST_CASE("a kernel reads a reduction of its own where it is computed") {
  for (int64_t dimension : {0, 1}) {
    Graph graph;
    Tensor x = graph.argument(kSquare);
    CHECK(graph.kernels(x - sum(x, {1}).broadcast(kSquare, {dimension})) ==
          (dimension == 0 ? 1 : 2));
  }
}

TEST_CASE("results of one kernel have one shape, or that of what is reduced") {
  for (int64_t rows : {64, 32}) {
    Graph graph;
    Tensor x = graph.argument(kSquare);
    CHECK(graph.kernels({tanh(x), -x.slice({0, 0}, {rows, 64})}) == (rows == 64 ? 1 : 2));
  }
  for (bool kept : {true, false}) {
    Graph graph;
    Tensor x = graph.argument(kSquare);
    Tensor total = sum(x, {1}), row = kept ? total : total.slice({0}, {32});
    CHECK(graph.kernels({total, -x, tanh(row)}) == (kept ? 1 : 2));
  }
}

TEST_CASE("an op that walks the data in an order of its own takes in cheap ops alone") {
  for (int op : {0, 1, 2, 3}) {
    bool cheap = op < 2;
    Graph graph;
    Tensor x = graph.argument(kSquare), y = graph.argument(kSquare);
    Tensor update = op == 0 ? x * y : op == 1 ? sqrt(x) : op == 2 ? tanh(x) : x.transpose({1, 0});
    Tensor row = graph.argument({64});
    auto indices = RankedTensorType::get({64}, row.getBuilder().getI64Type());
    CHECK(graph.kernels(x.full(0).scatter(iota(row.getBuilder(), row.getLoc(), indices, 0), update,
                                          0, ScatterKind::add)) == (cheap ? 1 : 2));
  }
  { // not what is read besides
    Graph graph;
    Tensor x = graph.argument(kSquare), update = x * 2.0;
    auto indices = RankedTensorType::get({64}, x.getBuilder().getI64Type());
    CHECK(graph.kernels({update, x.full(0).scatter(iota(x.getBuilder(), x.getLoc(), indices, 0),
                                                   update, 0, ScatterKind::add)}) == 2);
  }
}

TEST_CASE("the optimizer is no part of the kernels before it") {
  for (bool isOptimizer : {false, true}) {
    Graph graph;
    Tensor gradient = tanh(graph.argument(kSquare)), parameter = graph.argument(kSquare);
    if (isOptimizer)
      parameter = parameter.wrap(parameter.getBuilder().create<prim::OptimizationBarrierOp>(
          parameter.getLoc(), parameter));
    CHECK(graph.kernels(parameter - gradient) == (isOptimizer ? 2 : 1));
  }
}

// A broadcast is computed by what reads it, unless a library or the caller does.
TEST_CASE("what is read by others than kernels is in memory") {
  enum { kernel, library, caller, libraryThroughReshape, callerThroughReshape };
  for (int reader : {kernel, library, caller, libraryThroughReshape, callerThroughReshape}) {
    Graph graph;
    Tensor x = graph.argument(kSquare), rows = graph.argument({64}).broadcast(kSquare, {1});
    Tensor cubes = rows.reshape({64, 8, 8});
    Tensor result = reader == kernel                  ? -rows
                    : reader == library               ? matmul(x, rows)
                    : reader == libraryThroughReshape ? dotGeneral(x, cubes, {}, {}, {1}, {0})
                    : reader == callerThroughReshape  ? cubes
                                                      : rows;
    INFO(reader);
    CHECK(graph.kernels(result) == 1);
  }
}

// Erased ops leave their addresses to others, which are not what these were.
TEST_CASE("an op that was forgotten is looked at anew") {
  Graph graph;
  Tensor row = graph.argument({64}), wide = row.broadcast(kSquare, {1}), negated = -wide;
  Operation *broadcast = wide.get().getDefiningOp(), *neg = negated.get().getDefiningOp();
  OpBuilder &builder = negated.getBuilder();
  auto end = builder.create<func::ReturnOp>(negated.getLoc(), ValueRange{negated, negated});
  auto target = llvm::cantFail(createTarget("cpu", {}));
  Groups groups(*broadcast->getBlock(), *target);
  CHECK(groups.partOf(broadcast) == Part::Free);
  CHECK(groups.groupOf(neg) >= 0);
  end->setOperand(1, wide); // now the caller needs it
  CHECK(groups.partOf(broadcast) == Part::Free);
  groups.forget(broadcast);
  groups.forget(neg);
  CHECK(groups.partOf(broadcast) == Part::Member);
  CHECK(groups.groupOf(neg) == -1);
}

TEST_CASE("a result that is returned in another shape is a result of its kernel") {
  Graph graph;
  Tensor x = graph.argument(kSquare), y = -x;
  CHECK(graph.kernels({tanh(y), y.reshape({4096})}) == 1);
}
