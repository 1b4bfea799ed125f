// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the next phase cannot take is an error after each phase: one row for each rule.
#include "driver/Boundaries.h"
#include "driver/Pipeline.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using Catch::Matchers::Contains;

namespace {

/// A function of one tensor; `body` gives %r of its type.
std::string function(const std::string &name, const std::string &body,
                     const std::string &type = "tensor<4xf32>") {
  return "func.func @" + name + "(%x: " + type +
         " {accc.name = \"x\", accc.role = #prim.role<input>}) -> (" + type +
         " {accc.name = \"y\", accc.role = #prim.role<output>}) {\n" + body +
         "\nreturn %r : " + type + "\n}";
}

std::string problemsOf(const char *phase, const std::string &text) {
  MLIRContext context;
  registerDialects(context);
  ProblemCollector collector(&context);
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  INFO(text);
  REQUIRE(module);
  bool good = succeeded(checkBoundary(*module, phase));
  std::string problems;
  for (const Problem &problem : collector.take())
    problems += problem.message + "\n";
  CHECK(good == problems.empty());
  return problems;
}

std::string signature(const std::string &arguments, const std::string &results = "",
                      const std::string &values = "") {
  return "func.func @forward(" + arguments + ") -> (" + results + ") { return " + values + " }";
}

const char *kNeg = "%r = prim.neg %x : (tensor<4xf32>) -> tensor<4xf32>";
const char *kRelu = "%r = nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>";

const char *kSpec =
    "walks <extents = [4], reduced = [], levels = [], depths = [0], in_place = [0], "
    "accesses = (d0) -> (d0)>";

/// %r as a fusion of the given kind around one op.
std::string fusion(const std::string &kind, const std::string &op, const char *spec = kSpec) {
  return "%r = prim.fusion " + kind + " \"f\"(%x) : (tensor<4xf32>) -> tensor<4xf32> " + spec +
         " {\n^bb0(%a: tensor<4xf32>):\n" + op + "\nprim.yield %b : tensor<4xf32>\n}";
}
const char *kInside = "%b = prim.neg %a : (tensor<4xf32>) -> tensor<4xf32>";

} // namespace

TEST_CASE("boundaries: the functions of a module") {
  for (auto [text, problem] : std::initializer_list<std::pair<std::string, const char *>>{
           {"", "has no function @forward"},
           {"func.func private @forward()", "functions of one block alone"},
           {"func.func @forward() { return \n^bb1: return }", "functions of one block alone"},
           {"module {} " + function("forward", kRelu), "functions of one block alone"},
           {function("other", kNeg), "@other is not @forward"},
           {signature("%x: i32"), "has the type 'i32', but must be a tensor"},
           {signature("%x: tensor<?xf32>"), "must be a tensor of fixed shape"},
           {signature("%x: tensor<4xindex>"), "must be a tensor of fixed shape"},
           {signature("%x: tensor<1099511627777xi8>"), "must be a tensor of fixed shape"},
           {signature("%x: tensor<4xf32>"), "has no name"},
           {signature("%x: tensor<4xf32> {accc.name = \"x\"}"), "has no role"},
           {signature("%x: tensor<4xf32> {accc.name = \"x\", accc.role = \"input\"}"),
            "has no role"},
           {signature("%x: tensor<4xf32> {accc.name = \"x\", accc.role = #prim.role<target>}"),
            "'target'"},
           {signature("%x: tensor<4xi32> {accc.name = \"x\", accc.role = #prim.role<parameter>}"),
            "instead of a tensor of floats"},
           {signature("%x: tensor<3xi64> {accc.name = \"x\", accc.role = #prim.role<random_key>}"),
            "instead of tensor<2xi64>"},
           {signature("%x: tensor<4xf32> {accc.name = \"x\", accc.role = #prim.role<input>}, "
                      "%y: tensor<4xf32> {accc.name = \"x\", accc.role = #prim.role<buffer>}"),
            "has the name of another: 'x'"},
           {signature("%x: tensor<4xf32> {accc.name = \"x\", accc.role = #prim.role<input>}",
                      "tensor<4xf32> {accc.name = \"m\", accc.role = #prim.role<update>, "
                      "accc.updates = \"m\"}",
                      "%x : tensor<4xf32>"),
            "updates 'm', which is no variable of that type"},
           {signature("%x: tensor<f32> {accc.name = \"x\", accc.role = #prim.role<buffer>}",
                      "tensor<f32> {accc.name = \"x\", accc.role = #prim.role<update>, "
                      "accc.updates = \"x\"}, "
                      "tensor<f32> {accc.name = \"x\", accc.role = #prim.role<update>, "
                      "accc.updates = \"x\"}",
                      "%x, %x : tensor<f32>, tensor<f32>"),
            "updates 'x' once more"},
           {signature("%x: tensor<4x2xf32> {accc.name = \"x\", accc.order = array<i64: 1, 0>, "
                      "accc.role = #prim.role<parameter>}"),
            "has an order (accc.order), which models do not choose"},
       })
    CHECK_THAT(problemsOf("import", text), Contains(problem));
  CHECK(problemsOf("import", function("forward", kRelu)).empty());
}

TEST_CASE("boundaries: entry points") {
  CHECK(problemsOf("trainable", function("eval_step", kRelu)).empty());
  CHECK_THAT(problemsOf("trainable", function("forward", kRelu)), Contains("not an entry point"));
  std::string two = "func.func @grad_step(%w: tensor<4xf32> {accc.name = \"w\", accc.role = "
                    "#prim.role<parameter>}) { return }\n"
                    "func.func @eval_step(%w: tensor<5xf32> {accc.name = \"w\", accc.role = "
                    "#prim.role<parameter>}) { return }";
  CHECK_THAT(problemsOf("trainable", two),
             Contains("which has the type 'tensor<4xf32>' elsewhere"));
  auto ordered = [](const std::string &first, const std::string &second) {
    std::string text;
    for (auto [name, order] : {std::pair("grad_step", first), std::pair("eval_step", second)})
      text += std::string("func.func @") + name + "(%w: tensor<4x4xf32> {accc.name = \"w\", " +
              order + "accc.role = #prim.role<parameter>}) { return }\n";
    return text;
  };
  std::string order = "accc.order = array<i64: 1, 0>, ";
  CHECK(problemsOf("layout", ordered(order, order)).empty());
  CHECK_THAT(problemsOf("layout", ordered(order, "")),
             Contains("'w', which lies in another order elsewhere"));
  for (const char *wrong : {"array<i64: 1, 1>", "array<i64: 0>", "array<i64: 0, 2>", "\"1, 0\""}) {
    std::string other = std::string("accc.order = ") + wrong + ", ";
    CHECK_THAT(
        problemsOf("layout", ordered(other, other)),
        Contains("has an order (accc.order) that does not name each of its dimensions once"));
  }
}

TEST_CASE("boundaries: what an op may be") {
  std::string manyBatches = R"(
    func.func @eval_step(%x: tensor<1x2x3x4x5x6xf32> {accc.name = "x", accc.role = #prim.role<input>})
        -> (tensor<1x2x3x4x5xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
      %r = prim.dot_general %x, %x {lhs_batch = array<i64: 0, 1, 2, 3, 4>, rhs_batch = array<i64: 0, 1, 2, 3, 4>,
        lhs_contracting = array<i64: 5>, rhs_contracting = array<i64: 5>}
        : (tensor<1x2x3x4x5x6xf32>, tensor<1x2x3x4x5x6xf32>) -> tensor<1x2x3x4x5xf32>
      return %r : tensor<1x2x3x4x5xf32>
    })";
  std::string scattered = R"(
    func.func @eval_step(%x: tensor<2x3x4x5xf32> {accc.name = "x", accc.role = #prim.role<input>})
        -> (tensor<2x4x2x4xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
      %r = prim.dot_general %x, %x {lhs_batch = array<i64>, rhs_batch = array<i64>,
        lhs_contracting = array<i64: 1, 3>, rhs_contracting = array<i64: 1, 3>}
        : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x4x2x4xf32>
      return %r : tensor<2x4x2x4xf32>
    })";
  std::string large = "%b = prim.iota {dimension = 0 : i64} : () -> tensor<1099511627777xf32>\n";
  std::string unread = "%b = prim.abs %x : (tensor<4xf32>) -> tensor<4xf32>\n";
  std::string empty = "prim.fusion loop \"f\"(%x) : (tensor<4xf32>) -> () {\n"
                      "^bb0(%a: tensor<4xf32>):\n\"prim.yield\"() : () -> ()\n}\n";
  std::string composite = "%b = nn.relu %a : (tensor<4xf32>) -> tensor<4xf32>";
  std::string good = fusion("loop", kInside);
  auto step = [](const std::string &body) { return function("eval_step", body); };
  for (auto [phase, text, problem] :
       std::initializer_list<std::tuple<const char *, std::string, const char *>>{
           {"import", function("forward", good), "'prim.fusion' is not an operator of a model"},
           {"trainable", step(good), "'prim.fusion' is not an operator of a model"},
           {"decompose", step(kRelu), "'nn.relu' is not a primitive"},
           {"simplify", step(kRelu), "'nn.relu' is not a primitive"},
           {"layout", step(good), "'prim.fusion' is not a primitive"},
           {"decompose", step(large + kNeg), "'prim.iota' gives a tensor of more than 2^40 bytes"},
           {"layout", manyBatches, "no matrix library can read"},
           {"layout", scattered, "no matrix library can read"},
           {"fuse", step(kNeg), "'prim.neg' is in no kernel"},
           {"fuse", step(unread + kNeg), "'prim.abs' computes what nothing reads"},
           {"fuse", step(empty + good), "'prim.fusion' computes what nothing reads"},
           {"fuse", step(fusion("sort", kInside)), "of another kind than its ops are"},
           {"fuse", step(fusion("loop", kInside, "")), "a kernel that nobody has described"},
           {"fuse", step(fusion("loop", composite)), "an op that is not a primitive of kernels"},
       }) {
    INFO(phase);
    CHECK_THAT(problemsOf(phase, text), Contains(problem));
  }
  CHECK(problemsOf("fuse", step(good)).empty());
  CHECK(problemsOf("simplify", scattered).empty());
  CHECK(problemsOf("schedule", "").empty());
}

TEST_CASE("boundaries: IR text as a model") {
  MLIRContext context;
  registerDialects(context);
  ProblemCollector collector(&context);
  CHECK(readModelText(function("forward", kRelu), "m.mlir", context));
  CHECK(collector.get().empty());
  CHECK(!readModelText("func.func @forward(", "m.mlir", context));
  CHECK(!readModelText(function("backward", kRelu), "m.mlir", context));
  std::string nested(20000, '[');
  CHECK(!readModelText("\"a\"() {a = " + nested, "m.mlir", context));
  REQUIRE(collector.get().size() == 3);
  CHECK(collector.get()[0].node == "m.mlir:1:19");
  CHECK_THAT(collector.get()[1].message, Contains("not @forward"));
  CHECK_THAT(collector.get()[2].message, Contains("nests 20001 brackets"));
  // Brackets in strings and comments are none.
  CHECK(readModelText("// " + nested + "\n" + function("forward", kRelu) + "// \"" + nested,
                      "m.mlir", context));
}
