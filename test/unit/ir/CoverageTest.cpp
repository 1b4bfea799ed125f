// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every primitive has its rules, and every rule its samples.
#include "GradientRows.h"
#include "PointwiseRows.h"
#include "Program.h"

#include "ir/interfaces/Interfaces.h"

#include "llvm/ADT/STLExtras.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;

TEST_CASE("every primitive has its rules and its samples") {
  int count = 0;
  for (mlir::RegisteredOperationName name : context().getRegisteredOperations()) {
    if (name.getDialectNamespace() != "prim")
      continue;
    std::string mnemonic = name.stripDialect().str();
    // Structure, not primitives; and the user's operators, whose samples are in CustomCallTest.cpp.
    if (mnemonic.starts_with("fusion") || mnemonic == "yield" ||
        mnemonic == "optimization_barrier" || mnemonic.starts_with("custom_call"))
      continue;
    ++count;
    INFO(mnemonic);
    CHECK(name.hasInterface<Evaluable>());
    CHECK(name.hasInterface<Fusible>());
    CHECK(name.hasInterface<Differentiable>() != name.hasTrait<ZeroGradient>());
    if (name.hasInterface<Differentiable>())
      CHECK(llvm::any_of(gradientRows(),
                         [&](const GradientRow &row) { return row.mnemonic() == mnemonic; }));
  }
  CHECK(count <= 80); // the closed set
}

TEST_CASE("every pointwise op has samples of its value") {
  for (mlir::RegisteredOperationName name : context().getRegisteredOperations()) {
    if (name.getDialectNamespace() != "prim" || !name.hasInterface<Pointwise>())
      continue;
    INFO(name.getStringRef().str());
    CHECK(llvm::any_of(pointwiseRows(), [&](const PointwiseRow &row) {
      return llvm::StringRef(row.op).split(' ').first == name.stripDialect();
    }));
  }
}
