// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels are given the parts of buffers that they read.
#include "fusion/NarrowInputs.h"
#include "schedule/Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;

namespace {

/// A fusion that negates row `row` of twice %`of` [3, columns] and some more.
std::string negate(const std::string &name, const std::string &of, int row, int columns) {
  std::string width = std::to_string(columns);
  std::string whole = "tensor<3x" + width + "xf32>", part = "tensor<1x" + width + "xf32>";
  std::string line = "tensor<1x" + width + "xf32>"; // whose row is read whichever is asked for
  return name + R"( = prim.fusion loop "neg"()" + of + ") : (" + whole + ") -> " + part + R"( {
    ^bb0(%a: )" +
         whole + R"():
      %t = prim.constant dense<2.0> : )" +
         whole + R"(
      %l = prim.constant dense<0.5> : )" +
         line + R"(
      %b = prim.broadcast %l {dimensions = array<i64: 0, 1>} : ()" +
         line + ") -> " + whole + R"(
      %m = prim.mul %a, %t : ()" +
         whole + ", " + whole + ") -> " + whole + R"(
      %d = prim.add %m, %b : ()" +
         whole + ", " + whole + ") -> " + whole + R"(
      %s = prim.slice %d {starts = array<i64: )" +
         std::to_string(row) + R"(, 0>, limits = array<i64: )" + std::to_string(row + 1) + ", " +
         width + R"(>, strides = array<i64: 1, 1>} : ()" + whole + ") -> " + part + R"(
      %n = prim.neg %s : ()" +
         part + ") -> " + part + R"(
      prim.yield %n : )" +
         part + R"(
    }
)";
}

/// A value of the step, or its input, and the negatives of two rows of it.
std::string twoRows(const std::string &of, int columns) {
  std::string whole = "tensor<3x" + std::to_string(columns) + "xf32>";
  std::string part = "tensor<1x" + std::to_string(columns) + "xf32>";
  return R"(func.func @eval_step(%x: )" + whole +
         R"( {accc.name = "x", accc.role = #prim.role<input>}) -> ()" + part +
         R"( {accc.name = "y", accc.role = #prim.role<output>}, )" + part +
         R"( {accc.name = "z", accc.role = #prim.role<output>}) {
    %e = prim.fusion loop "exp"(%x) : ()" +
         whole + ") -> " + whole + R"( {
    ^bb0(%a: )" +
         whole + R"():
      %v = prim.exp %a : ()" +
         whole + ") -> " + whole + R"(
      prim.yield %v : )" +
         whole + R"(
    }
    )" + negate("%y", of, 1, columns) +
         negate("%z", of, 2, columns) + R"(
    return %y, %z : )" +
         part + ", " + part + "\n}\n";
}

struct Launches {
  size_t kernels = 0;
  std::vector<int64_t> begins, rows; // of what the kernels `neg` read
};

Launches launchesOf(const std::string &text) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, exec::ExecDialect, prim::PrimDialect>();
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  REQUIRE(module);
  for (auto function : module->getOps<func::FuncOp>())
    narrowInputs(function);
  REQUIRE(succeeded(verify(*module)));
  auto program = schedule(*module);
  REQUIRE(succeeded(program));
  Launches result;
  (*program)->walk([&](exec::LaunchOp launch) {
    if (!launch.getKernel().starts_with("neg"))
      return;
    Value input = launch.getInputs().front();
    result.begins.push_back(static_cast<int64_t>(input.getDefiningOp<exec::SliceOp>().getOffset()));
    result.rows.push_back(cast<exec::BufferType>(input.getType()).getTensor().getDimSize(0));
  });
  for (auto kernel : (*program)->getOps<exec::KernelOp>())
    result.kernels += kernel.getSymName().starts_with("neg");
  return result;
}

} // namespace

TEST_CASE("kernels that differ in the part that they read are one, given the part") {
  Launches launches = launchesOf(twoRows("%e", 16));
  CHECK(launches.kernels == 1);
  CHECK(launches.rows == std::vector<int64_t>{1, 1});
  REQUIRE(launches.begins.size() == 2);
  CHECK(launches.begins[1] - launches.begins[0] == 16 * 4);
}

TEST_CASE("kernels are given whole what the caller owns, and what no buffer may begin inside of") {
  auto [of, columns] = GENERATE(table<std::string, int>({{"%x", 16}, {"%e", 15}}));
  Launches launches = launchesOf(twoRows(of, columns));
  CHECK(launches.kernels == 2);
  CHECK(launches.rows == std::vector<int64_t>{3, 3});
}

TEST_CASE("kernels that read several parts of a value, or one with gaps, are given it whole") {
  struct Rows {
    int begin, end, stride;
  };
  auto [first, second] = GENERATE(table<Rows, Rows>({
      {{1, 2, 1}, {2, 3, 1}},
      {{0, 3, 2}, {0, 3, 2}},
      {{0, 2, 1}, {0, 3, 2}},
      {{0, 3, 2}, {0, 2, 1}},
  }));
  int rows = (first.end - first.begin + first.stride - 1) / first.stride;
  std::string part = "tensor<" + std::to_string(rows) + "x16xf32>";
  auto slice = [&](const std::string &name, Rows of) {
    return name + " = prim.slice %a {starts = array<i64: " + std::to_string(of.begin) +
           ", 0>, limits = array<i64: " + std::to_string(of.end) +
           ", 16>, strides = array<i64: " + std::to_string(of.stride) +
           ", 1>} : (tensor<3x16xf32>) -> " + part + "\n";
  };
  Launches launches =
      launchesOf(R"(func.func @eval_step(%x: tensor<3x16xf32> {accc.name = "x",
          accc.role = #prim.role<input>}) -> ()" +
                 part + R"( {accc.name = "y", accc.role = #prim.role<output>}) {
    %e = prim.fusion loop "exp"(%x) : (tensor<3x16xf32>) -> tensor<3x16xf32> {
    ^bb0(%a: tensor<3x16xf32>):
      %v = prim.exp %a : (tensor<3x16xf32>) -> tensor<3x16xf32>
      prim.yield %v : tensor<3x16xf32>
    }
    %y = prim.fusion loop "neg"(%e) : (tensor<3x16xf32>) -> )" +
                 part + " {\n^bb0(%a: tensor<3x16xf32>):\n" + slice("%s", first) +
                 slice("%t", second) + "%n = prim.sub %s, %t : (" + part + ", " + part + ") -> " +
                 part + "\nprim.yield %n : " + part + "\n}\nreturn %y : " + part + "\n}\n");
  CHECK(launches.rows == std::vector<int64_t>{3});
}

TEST_CASE("a kernel that copies nearly all of a value is left to its readers") {
  // Rows of 64 bytes; all but `cut` of them, which another kernel reads, or the caller.
  auto launches = [](int rows, int cut, bool isReturned) {
    std::string whole = "tensor<" + std::to_string(rows) + "x16xf32>";
    std::string left = std::to_string(rows - cut), part = "tensor<" + left + "x16xf32>";
    return launchesOf("func.func @eval_step(%x: " + whole +
                      R"( {accc.name = "x", accc.role = #prim.role<input>}) -> ()" + part +
                      R"( {accc.name = "y", accc.role = #prim.role<output>}) {
    %e = prim.fusion loop "exp"(%x) : ()" +
                      whole + ") -> " + whole + R"( {
    ^bb0(%a: )" + whole +
                      R"():
      %v = prim.exp %a : ()" +
                      whole + ") -> " + whole + R"(
      prim.yield %v : )" +
                      whole + R"(
    }
    %s = prim.fusion loop "neg_copy"(%e) : ()" +
                      whole + ") -> " + part + R"( {
    ^bb0(%a: )" + whole +
                      R"():
      %v = prim.slice %a {starts = array<i64: 0, 0>, limits = array<i64: )" +
                      left + R"(, 16>, strides = array<i64: 1, 1>} : ()" + whole + ") -> " + part +
                      R"(
      prim.yield %v : )" +
                      part + R"(
    }
    %y = prim.fusion loop "neg"(%s) : ()" +
                      part + ") -> " + part + R"( {
    ^bb0(%a: )" + part +
                      R"():
      %v = prim.neg %a : ()" +
                      part + ") -> " + part + R"(
      prim.yield %v : )" +
                      part + R"(
    }
    return )" + (isReturned ? "%s" : "%y") +
                      " : " + part + "\n}\n");
  };
  CHECK(launches(65, 1, false).rows == std::vector<int64_t>{64});
  CHECK(launches(64, 1, true).rows == std::vector<int64_t>{63, 63});
  CHECK(launches(4, 1, false).rows == std::vector<int64_t>{3, 3}); // much would stay in memory
}
