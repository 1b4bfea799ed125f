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
  CHECK(choose({"cpu"}, {"sm_90"}) == "cpu:sm_90;");
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
}
