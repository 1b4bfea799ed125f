// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which values have readers that count their last bits.
#include "budget/SameBits.h"
#include "ir/prim/Prim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;

namespace {

/// A function of %x and %m [4], the greatest of its elements, which gives `result`. Its ops are its
/// arguments' only readers.
class Function {
public:
  explicit Function(const std::string &ops) {
    context.loadDialect<func::FuncDialect, prim::PrimDialect>();
    module = parseSourceString<ModuleOp>(
        "func.func @f(%x: tensor<4xf32>, %m: tensor<4xf32>) {\n" + ops + "\n return\n}", &context);
    REQUIRE(module);
    function = *module->getOps<func::FuncOp>().begin();
  }

  Block &block() { return function.front(); }
  Operation *op(size_t number) { return &*std::next(block().begin(), std::ptrdiff_t(number)); }
  bool wantsX() { return SameBits(block()).areWanted(function.getArgument(0)); }
  bool wantsXFrom(size_t number) {
    return SameBits(block()).areWanted(function.getArgument(0), op(number));
  }

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
};

std::string comparison(const std::string &value, const std::string &type = "tensor<4xf32>",
                       const std::string &other = "%m") {
  std::string flags = StringRef(type).drop_back(4).str() + "i1>";
  return "%found = prim.compare eq " + value + ", " + other + " : (" + type + ", " + type +
         ") -> " + flags + "\n";
}

/// A kernel that gives x + m and compares `inside` with m.
std::string kernel(const std::string &inside) {
  return R"(%k:2 = prim.fusion loop "k" (%x, %m) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %sum = prim.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %double = prim.add %b, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      )" +
         comparison(inside, "tensor<4xf32>", "%b") +
         R"(      prim.yield %sum, %found : tensor<4xf32>, tensor<4xi1>
    }
)";
}

const std::string kNegative = "%n = prim.neg %x : (tensor<4xf32>) -> tensor<4xf32>\n";

} // namespace

TEST_CASE("same bits: what is compared with another value, made an integer or ordered") {
  CHECK(Function(comparison("%x")).wantsX());
  CHECK(Function("%f = prim.floor %x : (tensor<4xf32>) -> tensor<4xf32>").wantsX());
  CHECK(Function("%i = prim.convert %x : (tensor<4xf32>) -> tensor<4xi64>").wantsX());
  CHECK(Function("%i = prim.arg_reduce max %x {dimension = 0} : (tensor<4xf32>) -> tensor<i64>")
            .wantsX());
  CHECK_FALSE(Function(kNegative).wantsX());
  CHECK_FALSE(Function("%b = prim.convert %x : (tensor<4xf32>) -> tensor<4xi1>").wantsX());
  CHECK_FALSE(Function("%b = prim.bitcast %x : (tensor<4xf32>) -> tensor<4xi32>\n"
                       "%found = prim.compare eq %b, %b : (tensor<4xi32>, tensor<4xi32>) -> "
                       "tensor<4xi1>")
                  .wantsXFrom(1));
  CHECK_FALSE(Function("%zero = prim.constant dense<0.0> : tensor<4xf32>\n"
                       "%above = prim.compare gt %x, %zero : (tensor<4xf32>, tensor<4xf32>) -> "
                       "tensor<4xi1>")
                  .wantsX());
}

TEST_CASE("same bits: through ops, calls, kernels and aliases") {
  CHECK(Function(kNegative + comparison("%n")).wantsX());
  CHECK(Function("%d = prim.dot_general %x, %m {lhs_batch = array<i64>, rhs_batch = array<i64>, "
                 "lhs_contracting = array<i64: 0>, rhs_contracting = array<i64: 0>} : "
                 "(tensor<4xf32>, tensor<4xf32>) -> tensor<f32>\n" +
                 comparison("%d", "tensor<f32>", "%d"))
            .wantsX());
  CHECK(Function(kernel("%sum")).wantsX());
  CHECK_FALSE(Function(kernel("%double")).wantsX());
  CHECK(Function(kernel("%double") + comparison("%k#0")).wantsX());
  CHECK(Function("%r = prim.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>\n" +
                 comparison("%r", "tensor<2x2xf32>", "%r"))
            .wantsX());
}

TEST_CASE("same bits: of several segments, and where nobody knows") {
  auto each = [](const std::string &op) {
    return Function(
               R"(%e:2 = prim.fusion_each "e" (%x, %m) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      ^bb0(%a: tensor<1073741824xf32>):
        %r = prim.)" +
               op + R"( %a : (tensor<1073741824xf32>) -> tensor<1073741824xf32>
        prim.yield %r : tensor<1073741824xf32>
      })")
        .wantsX();
  };
  CHECK(each("floor"));
  CHECK_FALSE(each("neg"));
  CHECK(
      Function(
          R"(%c = prim.custom_call "acme::op" of "libacme.so" {} (%x) : (tensor<4xf32>) -> tensor<4xf32>)")
          .wantsX());
}

TEST_CASE("same bits: up to the last reader that wants them") {
  Function early(comparison("%x") + kNegative);
  CHECK(early.wantsXFrom(0));
  CHECK_FALSE(early.wantsXFrom(1));
  Function late(kNegative + comparison("%x"));
  CHECK(late.wantsXFrom(1));
  // What an alias stands for is read where that is, not where it is.
  Function alias("%r = prim.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>\n" + kNegative +
                 comparison("%r", "tensor<2x2xf32>", "%r"));
  CHECK(alias.wantsXFrom(1));
}
