// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What messages are made of: printable text, suggestions, where a compiler crashed.
#include "driver/Driver.h"
#include "support/PrintableText.h"
#include "support/Suggest.h"
#include "support/WorkScope.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>
#include <sstream>

using namespace mlir;
using namespace accc;

TEST_CASE("messages: text from a file moves no terminal") {
  CHECK(printable("conv1: 3 x 3\n\tß 漢 😀") == "conv1: 3 x 3\n\tß 漢 😀");
  CHECK(printable("\x1b[31mred\r\a\x7f") == "\\u001b[31mred\\u000d\\u0007\\u007f");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\u009b31m"); // CSI as one character
  CHECK(printable("\xe2\x80\xae"
                  "txt") == "\\u202etxt");
  CHECK(printable(std::string("a\0b", 3)) == "a\\u0000b");
  CHECK(printable("\xff\xc0\x80 \xe2\x82 \xed\xa0\x80") ==
        "\\xff\\xc0\\x80 \\xe2\\x82 \\xed\\xa0\\x80");
}

TEST_CASE("messages: a stream's text is printable wherever it is cut") {
  std::string text = "a\x1b ß漢😀\xff\xe2\x82";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    std::ostringstream to;
    PrintableBuffer buffer(to.rdbuf());
    std::ostream stream(&buffer);
    stream << text.substr(0, cut) << text.substr(cut) << std::flush;
    CHECK(to.str() == "a\\u001b ß漢😀\\xff\\xe2\\x82");
  }
}

TEST_CASE("messages: a name is suggested that is close") {
  std::vector<std::string> names = {"compile", "check", "mse", "cross_entropy"};
  CHECK(didYouMean("chekc", names) == "; did you mean 'check'?");
  CHECK(didYouMean("MSE", names) == "; did you mean 'mse'?");
  CHECK(didYouMean("mes", names) == "; did you mean 'mse'?");
  CHECK(didYouMean("crossentropy", names) == "; did you mean 'cross_entropy'?");
  CHECK(didYouMean("comp", names) == "; did you mean 'compile'?");
  CHECK(didYouMean("fly", names).empty());
  CHECK(didYouMean("", names).empty());
  CHECK(didYouMean("check", {}).empty());
}

/// What is known of a child process that crashes while it does `work`.
static Crash crashIn(const std::function<void()> &work) {
  Crash crash;
  // Catch's handlers would tell of the child's end as of one of this test.
  auto trap = std::signal(SIGILL, SIG_DFL), aborted = std::signal(SIGABRT, SIG_DFL);
  int code = guardAgainstCrashes(
      [&] {
        work();
        return 0;
      },
      [&](const Crash &found) { crash = found; });
  std::signal(SIGILL, trap);
  std::signal(SIGABRT, aborted);
  CHECK(code == static_cast<int>(ExitCode::Bug));
  return crash;
}

TEST_CASE("messages: a crash names phase, entry point and node") {
  MLIRContext context;
  OpBuilder b(&context);
  Location loc = NameLoc::get(b.getStringAttr("conv1"), NameLoc::get(b.getStringAttr("Conv")));
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  Crash crash = crashIn([&] {
    setWorkPhase("fuse");
    WorkScope scope(module->getOperation());
    __builtin_trap();
  });
  CHECK(crash.phase == "fuse");
  CHECK(crash.node == "conv1");
  CHECK(crash.op == "builtin.module");
  CHECK(crash.entry.empty());
  CHECK(toProblem(crash).fault == Fault::Bug);

  crash = crashIn([&] {
    setWorkPhase("import");
    WorkScope outer("loop", "Loop");
    {
      WorkScope over("before", "Add");
    }
    WorkScope inner("body", "Mul");
    std::abort();
  });
  CHECK(crash.node == "body");
  CHECK(crash.op == "Mul");
  CHECK(describe(toProblem(crash)) ==
        "node 'body' (Mul): bug in accc: the compiler crashed (Aborted) in the phase 'import'");
}
