// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The targets that options ask for, and what their programs must have in common.
#include "driver/Pipeline.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using Catch::Matchers::Contains;

TEST_CASE("targets: each takes the archs that it knows, the best first") {
  auto choose = [](std::vector<std::string> targets, std::vector<std::string> archs) {
    std::string text;
    auto choices = chooseTargets(targets, archs);
    if (!choices)
      return llvm::toString(choices.takeError());
    for (const TargetChoice &choice : *choices)
      text += choice.target + ":" + llvm::join(choice.archs, ",") + ";";
    return text;
  };
  CHECK(choose({"cpu"}, {}) == "cpu:x86-64-v3;");
  CHECK(choose({"cpu", "cuda"}, {}) == "cuda:sm_80,sm_90;cpu:x86-64-v3;");
  CHECK(choose({"cpu", "cuda"}, {"native", "sm_90", "x86-64-v4"}) ==
        "cuda:sm_90;cpu:native,x86-64-v4;");
  // Of one target all are, be they right or wrong: it knows best what is wrong with them.
  CHECK(choose({"cpu"}, {"z80"}) == "cpu:z80;");
  CHECK(
      choose({"cpu"}, {"sm_90"}) ==
      "--arch sm_90 is a machine of --target cuda, and --target is cpu: give --target cuda, or an "
      "--arch of cpu");
  CHECK_THAT(choose({"cpu", "cuda"}, {"sm_90", "z80"}), Contains("--arch z80: "));
  CHECK_THAT(choose({"cpu", "cpu"}, {}), Contains("--target names cpu twice"));
  CHECK_THAT(choose({"cpu", "tpu"}, {}), Contains("--target tpu: "));
}

TEST_CASE("targets: programs of one library place variables alike") {
  MLIRContext context;
  registerDialects(context);
  ProblemCollector problems(&context);
  auto programAt = [&](const std::string &offset) {
    return parseSourceString<ModuleOp>("exec.variable \"w\" <parameter> tensor<4xf32> at " + offset,
                                       ParserConfig(&context));
  };
  OwningOpRef<ModuleOp> a = programAt("0"), b = programAt("64");
  REQUIRE((a && b));
  auto target = llvm::cantFail(createTarget("cpu", {"x86-64-v3"}));
  CHECK(failed(generateLibrary({{*a, target.get()}, {*b, target.get()}}, {}, {}, "/dev/null")));
  REQUIRE(!problems.get().empty());
  CHECK_THAT(problems.get().back().message, Contains("bug in accc: the programs for cpu and cpu"));
  CHECK(problems.get().back().fault == Fault::Bug);

  // Each may have its own order for one; that of a program names each dimension once.
  auto programIn = [&](const std::string &order) {
    return parseSourceString<ModuleOp>("exec.variable \"w\" <parameter> tensor<8x3xf32> " + order +
                                           " at 0",
                                       ParserConfig(&context));
  };
  OwningOpRef<ModuleOp> plain = programIn(""), ordered = programIn("in [1, 0]");
  REQUIRE((plain && ordered));
  CHECK(failed(
      generateLibrary({{*plain, target.get()}, {*ordered, target.get()}}, {}, {}, "/dev/null")));
  CHECK_THAT(problems.get().back().message, Contains("the program has no entry point"));
  for (const char *wrong : {"in [1, 1]", "in [0]", "in [0, 2]"}) {
    CHECK_FALSE(programIn(wrong));
    CHECK_THAT(problems.get().back().message,
               Contains("'w' has an order that does not name each of its 2 dimensions once"));
  }
}
