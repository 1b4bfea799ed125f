// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whose fault a problem is travels with it, from where it arises to the exit code.
#include "support/Fault.h"
#include "driver/Driver.h"
#include "support/ProblemCollector.h"

#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;

TEST_CASE("faults: a diagnostic keeps its fault, its node and its words") {
  MLIRContext context;
  ProblemCollector problems(&context);
  Location node = NameLoc::get(StringAttr::get(&context, "conv1"));
  emitError(node) << "no such kernel size";
  emitMachineFault(node) << "no space";
  emitBug(node) << "two results";
  emitWarning(node) << "slow";
  REQUIRE(problems.get().size() == 4);
  for (const Problem &problem : problems.get())
    CHECK(problem.node == "conv1");
  CHECK(problems.get()[0].fault == Fault::Data);
  CHECK(problems.get()[1].fault == Fault::Machine);
  CHECK(problems.get()[1].message == "no space");
  CHECK(problems.get()[2].fault == Fault::Bug);
  CHECK(problems.get()[2].message == "bug in accc: two results");
  CHECK(problems.get()[3].severity == Problem::Severity::Warning);
}

TEST_CASE("faults: the gravest counts, and a problem that is known counts again") {
  MLIRContext context;
  ProblemCollector problems(&context);
  CHECK(!problems.gravestFault());
  emitWarning(UnknownLoc::get(&context)) << "slow";
  CHECK(!problems.gravestFault());
  emitMachineFault(UnknownLoc::get(&context)) << "no space";
  emitError(UnknownLoc::get(&context)) << "no such kernel size";
  CHECK(problems.gravestFault() == Fault::Machine);

  problems.forgetFaults();
  CHECK(!problems.gravestFault());
  emitError(UnknownLoc::get(&context)) << "no such kernel size"; // as at the size before
  CHECK(problems.get().size() == 3);
  CHECK(problems.gravestFault() == Fault::Data);
}

TEST_CASE("faults: the exit code is the fault's") {
  CHECK(exitCodeFor(Fault::Data) == ExitCode::Data);
  CHECK(exitCodeFor(Fault::Usage) == ExitCode::Usage);
  CHECK(exitCodeFor(Fault::Machine) == ExitCode::Machine);
  CHECK(exitCodeFor(Fault::Bug) == ExitCode::Bug);
}
