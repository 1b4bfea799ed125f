// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interpret before = interpret after, for passes on thousands of small random programs: rules that
// apply where they must not, or give the wrong thing, are found without an example of each.
#include "Equivalence.h"
#include "RandomProgram.h"
#include "fusion/Passes.h"
#include "layout/Passes.h"
#include "transforms/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

/// Short programs first: the one that fails is small.
int opsOf(uint32_t seed) { return 2 + static_cast<int>(seed / 400 % 8); }

SmallVector<ReferenceArray> valuesOf(ModuleOp module, ArrayRef<ReferenceArray> arguments) {
  SmallVector<ReferenceArray> results;
  REQUIRE(succeeded(interpret(module.lookupSymbol<func::FuncOp>("f"), arguments, results)));
  return results;
}

void checkPasses(uint32_t programs, ArrayRef<std::unique_ptr<Pass> (*)()> creators) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<func::FuncDialect, prim::PrimDialect>();
  PassManager passes(&context);
  for (auto create : creators)
    passes.addNestedPass<func::FuncOp>(create());
  uint32_t changed = 0;
  for (uint32_t seed = 0; seed < programs; ++seed) {
    RandomProgram program(context, seed, opsOf(seed));
    std::string text = program.text();
    INFO("seed " << seed << "\n" << text);
    REQUIRE(succeeded(verify(program.module())));
    std::vector<ReferenceArray> usual = program.arguments(false), special = program.arguments(true);
    SmallVector<ReferenceArray> expected = valuesOf(program.module(), usual),
                                ofSpecial = valuesOf(program.module(), special);
    REQUIRE(succeeded(passes.run(program.module())));
    std::string after = program.text();
    changed += after != text;
    INFO("became\n" << after);
    CHECK(difference(valuesOf(program.module(), usual), expected, 1e-6) == "");
    CHECK(difference(valuesOf(program.module(), special), ofSpecial, 1e-6) == "");
  }
  CHECK(changed > programs / 2);
}

} // namespace

TEST_CASE("--simplify keeps the values of random programs") {
  checkPasses(3000, {createSimplifyPass});
}
TEST_CASE("--form-fusions keeps the values of random programs") {
  checkPasses(1000, {createFormFusionsPass});
}
