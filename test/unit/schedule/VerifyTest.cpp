// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The verifier refuses every schedule that would compute something else than the function.
#include "schedule/Schedule.h"
#include "support/ProblemCollector.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using Catch::Matchers::Contains;

namespace {

constexpr const char *kB = "!exec.buffer<tensor<16xf32>>";
constexpr const char *kB2 = "!exec.buffer<tensor<32xf32>>";

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// y = reverse(-x), and w = w - y: values 0 x, 1 w, 2 -x, 3 y, 4 the new w.
const std::string kEntry = R"(
  %x = exec.slice input 0 of 0 : B
  %n = exec.slice arena 64 of 2 : B
  exec.launch @neg(%x) -> (%n) : B -> B
  %y = exec.slice arena 128 of 3 : B
  exec.launch @reverse(%n) -> (%y) : B -> B
  %out = exec.slice output 0 of 3 : B
  exec.launch @copy(%y) -> (%out) : B -> B
  exec.check
  %w = exec.slice state 0 of 1 : B
  %w1 = exec.slice state 0 of 4 : B
  exec.launch @sub(%w, %y) -> (%w1) : B, B -> B
)";

std::string program(const std::string &entry = kEntry, int after = 4) {
  std::string text = R"(
exec.variable "w" <parameter> tensor<16xf32> at 0 trainable
exec.constant @c0 dense<2.0> : tensor<16xf32>
exec.constant @c1 dense<3.0> : tensor<16xf32>
exec.kernel @neg loop "neg" {
^bb0(%a: tensor<16xf32>):
  %0 = prim.neg %a : (tensor<16xf32>) -> tensor<16xf32>
  prim.yield %0 : tensor<16xf32>
}
exec.kernel @reverse loop "reverse" {
^bb0(%a: tensor<16xf32>):
  %0 = prim.reverse %a {dimensions = array<i64: 0>} : (tensor<16xf32>) -> tensor<16xf32>
  prim.yield %0 : tensor<16xf32>
}
exec.kernel @widen loop "widen" {
^bb0(%a: tensor<16xf32>):
  %h = prim.slice %a {starts = array<i64: 0>, limits = array<i64: 8>, strides = array<i64: 1>} : (tensor<16xf32>) -> tensor<8xf32>
  %0 = prim.convert %h : (tensor<8xf32>) -> tensor<8xf64>
  prim.yield %0 : tensor<8xf64>
}
exec.kernel @gather loop "gather" {
^bb0(%a: tensor<16xf32>):
  %i = prim.constant dense<1> : tensor<16xi64>
  %0 = prim.gather %a, %i {axis = 0 : i64} : (tensor<16xf32>, tensor<16xi64>) -> tensor<16xf32>
  prim.yield %0 : tensor<16xf32>
}
exec.kernel @copy loop "copy" {
^bb0(%a: tensor<16xf32>):
  prim.yield %a : tensor<16xf32>
}
exec.kernel @sub loop "sub" {
^bb0(%a: tensor<16xf32>, %b: tensor<16xf32>):
  %0 = prim.sub %a, %b : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  prim.yield %0 : tensor<16xf32>
}
exec.kernel @both loop "both" {
^bb0(%a: tensor<16xf32>):
  prim.yield %a, %a : tensor<16xf32>, tensor<16xf32>
}
exec.kernel @each each "each" {
^bb0(%a: tensor<1073741824xf32>, %b: tensor<1073741824xf32>):
  %0 = prim.sub %a, %b : (tensor<1073741824xf32>, tensor<1073741824xf32>) -> tensor<1073741824xf32>
  prim.yield %0 : tensor<1073741824xf32>
}
exec.entry @train_step attributes {arena_size = 192 : i64,
    inputs = [{name = "x", role = #prim.role<input>, type = tensor<16xf32>}], input_values = array<i64: 0>,
    outputs = [{name = "y", role = #prim.role<output>, type = tensor<16xf32>}],
    output_values = array<i64: 3>,
    variables = [{after = )" +
                     std::to_string(after) + R"(, before = 1, name = "w"}]} {)" + entry + "}\n";
  for (auto [name, type] : {std::pair(" B2", kB2), std::pair(" B", kB)})
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += 1)
      if (!isalnum(static_cast<unsigned char>(text[at + strlen(name)])))
        text.replace(at, strlen(name), std::string(" ") + type);
  return text;
}

/// What the verifier says of a program; empty where it takes it.
std::string verdict(const std::string &text) {
  MLIRContext context;
  context.loadDialect<exec::ExecDialect, prim::PrimDialect>();
  ProblemCollector problems(&context);
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  INFO(text << (problems.get().empty() ? "" : problems.get().front().message));
  REQUIRE(module);
  if (succeeded(verifySchedule(*module)))
    return "";
  REQUIRE(problems.get().size() == 1);
  return problems.take().front().message;
}

std::string verdictWith(const std::string &from, const std::string &to) {
  return verdict(program(replaced(kEntry, from, to)));
}

} // namespace

TEST_CASE("verify: a right schedule is taken") { CHECK(verdict(program()) == ""); }

TEST_CASE("verify: reads") {
  SECTION("of what is written later") {
    std::string late = "  exec.launch @neg(%x) -> (%n) : B -> B\n";
    CHECK_THAT(verdict(program(replaced(kEntry, late, "") + late)),
               Contains("reads value 2 at byte 64 of the arena, which is not written"));
  }
  SECTION("of what another value has overwritten") {
    CHECK_THAT(verdict(program(replaced(kEntry, "  %out =",
                                        "  %z = exec.slice arena 128 of 9 : B\n"
                                        "  exec.launch @neg(%x) -> (%z) : B -> B\n  %out ="))),
               Contains("reads value 3 at byte 128 of the arena, which holds value 9"));
  }
  SECTION("of a part that another value has overwritten") {
    std::string entry = replaced(kEntry, "  %out =",
                                 "  %z = exec.slice arena 64 of 9 : B2\n"
                                 "  exec.launch @neg(%x) -> (%z) : B -> B2\n  %out =");
    CHECK_THAT(verdict(program(entry)), Contains("reads value 3 at byte 128 of the arena"));
  }
  SECTION("of another part of the value") {
    CHECK_THAT(verdictWith("exec.launch @reverse(%n)", "%part = exec.slice arena 64 of 2 + 64 : B\n"
                                                       "  exec.launch @reverse(%part)"),
               Contains("reads value 2 at byte 64 of the arena, which holds value 2"));
  }
  SECTION("of a variable after its update") {
    CHECK_THAT(verdict(program(kEntry + "  exec.launch @neg(%w) -> (%n) : B -> B\n")),
               Contains("reads value 1 at byte 0 of the state, which holds value 4"));
  }
  SECTION("of a variable that the entry is not given") {
    std::string text = program();
    CHECK_THAT(verdict(replaced(text, "before = 1", "before = -1")),
               Contains("reads value 1 at byte 0 of the state, which is not written"));
  }
  SECTION("of two constants by one number") {
    CHECK_THAT(verdictWith("exec.launch @reverse(%n)", "%c = exec.slice constant 0 @c0 of 7 : B\n"
                                                       "  %d = exec.slice constant 0 @c1 of 7 : B\n"
                                                       "  exec.launch @reverse(%n)"),
               Contains("two constants are called value 7"));
  }
}

TEST_CASE("verify: writes") {
  SECTION("over an input that the kernel reads in another order") {
    CHECK_THAT(verdictWith("arena 128 of 3", "arena 64 of 3"),
               Contains("an output of a step overlaps one of its inputs"));
  }
  SECTION("over an input that the kernel reads where it writes") {
    std::string entry = replaced(kEntry, "@reverse", "@neg");
    CHECK(verdict(program(replaced(entry, "arena 128 of 3", "arena 64 of 3"))) == "");
  }
  SECTION("over an input of as many bytes with other elements") {
    std::string wide = "!exec.buffer<tensor<8xf64>>";
    std::string entry = "  %z = exec.slice arena 64 of 9 : " + wide + "\n" +
                        "  exec.launch @widen(%n) -> (%z) : B -> " + wide + "\n  %out =";
    CHECK_THAT(verdict(program(replaced(kEntry, "  %out =", entry))),
               Contains("an output of a step overlaps one of its inputs"));
  }
  SECTION("over a part of an input") {
    std::string entry = replaced(kEntry, "@reverse(%n) -> (%y) : B -> B",
                                 "@neg(%n) -> (%z) : B -> B2\n"
                                 "  exec.launch @reverse(%n) -> (%y) : B -> B");
    entry = replaced(entry, "  %y =", "  %z = exec.slice arena 64 of 9 : B2\n  %y =");
    CHECK_THAT(verdict(program(entry)), Contains("an output of a step overlaps one of its inputs"));
  }
  SECTION("of two outputs to one place") {
    CHECK_THAT(verdictWith("exec.launch @reverse(%n) -> (%y) : B -> B",
                           "%z = exec.slice arena 128 of 9 : B\n"
                           "  exec.launch @both(%n) -> (%y, %z) : B -> B, B"),
               Contains("two outputs of a step overlap"));
  }
  SECTION("to what is read-only") {
    CHECK_THAT(verdictWith("exec.launch @reverse(%n) -> (%y)", "exec.launch @reverse(%n) -> (%x)"),
               Contains("writes a read-only buffer"));
  }
  SECTION("outside the arena, over the status word, or not aligned") {
    CHECK_THAT(verdictWith("arena 128 of 3", "arena 192 of 3"), Contains("outside the arena"));
    CHECK_THAT(verdictWith("arena 128 of 3", "arena 0 of 3"), Contains("outside the arena"));
    CHECK_THAT(verdictWith("arena 128 of 3", "arena 132 of 3"), Contains("is not aligned"));
    CHECK_THAT(verdictWith("state 0 of 4", "state 64 of 4"), Contains("outside the state"));
    CHECK_THAT(verdictWith("output 0 of 3", "output 1 of 3"),
               Contains("the entry has no output 1"));
  }
}

TEST_CASE("verify: segments run at the same time") {
  auto each = [](const char *second) {
    return replaced(kEntry, "exec.launch @sub(%w, %y) -> (%w1) : B, B -> B",
                    std::string("%z = exec.slice arena 64 of 5 : B\n  exec.launch_each @each "
                                "[16, 16] (%w, %y, ") +
                        second + ") -> (%w1, %z) : B, B, B, B -> B, B");
  };
  CHECK(verdict(program(each("%y, %n"))) == "");
  CHECK_THAT(verdict(program(each("%y, %w"))),
             Contains("an output of a step overlaps one of its inputs"));
}

TEST_CASE("verify: the check of the data") {
  SECTION("stands before the first update") {
    CHECK_THAT(verdictWith("exec.check\n", "\n"),
               Contains("a variable changes before the data has been checked"));
  }
  SECTION("stands behind every step that may fail") {
    CHECK(verdictWith("@reverse", "@gather") == "");
    CHECK_THAT(verdict(program(kEntry + "  exec.launch @gather(%y) -> (%n) : B -> B\n")),
               Contains("a step that can fail stands behind the check of the data"));
  }
}

TEST_CASE("verify: what an entry leaves") {
  SECTION("in an output") {
    CHECK_THAT(verdictWith("exec.launch @copy(%y) -> (%out) : B -> B", ""),
               Contains("does not write the output \"y\""));
    CHECK_THAT(verdictWith("output 0 of 3", "output 0 of 2"),
               Contains("does not write the output \"y\""));
  }
  SECTION("in a variable") {
    CHECK_THAT(verdictWith("exec.launch @sub(%w, %y) -> (%w1) : B, B -> B", ""),
               Contains("leaves a wrong value in the variable \"w\""));
    CHECK_THAT(verdict(program(kEntry, 1)), Contains("leaves a wrong value in the variable \"w\""));
  }
}

TEST_CASE("verify: launches have their kernel's buffers") {
  CHECK_THAT(verdictWith("@reverse(%n)", "@nothing(%n)"), Contains("unknown kernel 'nothing'"));
  CHECK_THAT(verdictWith("@reverse(%n)", "@sub(%n)"),
             Contains("does not have the kernel's numbers of buffers"));
}
