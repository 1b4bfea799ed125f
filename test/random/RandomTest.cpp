// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Some hundred random models, and what makes them worth something: every op is in them, and what is
// wrong is found.
#include "Isolated.h"
#include "Minimize.h"
#include "Model.h"

#include "driver/Pipeline.h"
#include "ir/prim/Prim.h"

#include <catch2/catch.hpp>

#include <iostream>
#include <set>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

constexpr uint64_t kFirstSeed = 1;
constexpr int64_t kModels = 300;

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

struct Context {
  Context() { registerDialects(context); }
  MLIRContext context{MLIRContext::Threading::DISABLED};
};

} // namespace

TEST_CASE("every op is in random models, and equal seeds give equal models") {
  Context c;
  std::set<std::string> seen;
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + 2500; ++seed) {
    OwningOpRef<ModuleOp> module = randomModel(&c.context, seed);
    module->walk([&](Operation *op) { seen.insert(op->getName().getStringRef().str()); });
    if (seed % 100 == 0)
      CHECK(textOf(*module) == textOf(*randomModel(&c.context, seed)));
  }
  for (RegisteredOperationName name : c.context.getRegisteredOperations()) {
    StringRef dialect = name.getDialectNamespace();
    if ((dialect != "prim" && dialect != "nn") || name.hasTrait<OpTrait::IsTerminator>() ||
        name.hasTrait<OpTrait::IsIsolatedFromAbove>() ||
        name.stripDialect() == "optimization_barrier" ||
        // What later phases make.
        name.stripDialect() == "gemm" || name.stripDialect() == "merge" ||
        name.stripDialect() == "attention_backward" ||
        name.stripDialect().starts_with("strided_attention") ||
        name.hasInterface<CustomCallLike>() || // the user's
        name.hasTrait<Collective>())           // nobody else is there
      continue;
    INFO(name.getStringRef().str());
    CHECK(seen.count(name.getStringRef().str()) == 1);
  }
}

TEST_CASE("random models train as the interpreter says") {
  Context c;
  std::cout << "seeds " << kFirstSeed << " to " << kFirstSeed + kModels - 1 << "\n";
  int64_t passed = 0, compared = 0;
  checkIsolated(
      kModels, {.jobs = 2}, {}, [&](int64_t i) { return randomModel(&c.context, kFirstSeed + i); },
      [&](int64_t i, const Verdict &verdict) {
        passed += verdict.status == Verdict::Status::Passed;
        compared += verdict.compared;
        if (verdict.status != Verdict::Status::Failed)
          return;
        uint64_t seed = kFirstSeed + i;
        FAIL_CHECK(verdict.kind << "\n"
                                << verdict.message << "\n"
                                << textOf(*randomModel(&c.context, seed))
                                << "scripts/random --count 1 --seed " << seed);
      });
  CHECK(passed > kModels * 3 / 4);
  CHECK(compared > kModels * 15);
}

// The checker, checked: a phase that computes something else is found and named, and what is left
// of the model in the end is what it takes.
TEST_CASE("a wrong phase is named, and its case minimised") {
  Context c;
  CheckOptions options{
      .library = false, .afterPhase = [](StringRef phase, ModuleOp module) {
        if (phase != "layout")
          return;
        module.walk([](prim::TanhOp op) {
          OpBuilder b(op);
          op.replaceAllUsesWith(
              b.create<prim::AtanOp>(op.getLoc(), op.getType(), op.getOperand()).getResult());
        });
      }};
  int found = 0;
  for (uint64_t seed = kFirstSeed; found < 1; ++seed) {
    OwningOpRef<ModuleOp> module = randomModel(&c.context, seed);
    Verdict verdict = checkIsolated(*module, options);
    if (verdict.kind != "layout changes values")
      continue;
    ++found;
    minimize(module, [&](ModuleOp candidate) {
      return checkIsolated(candidate, options).kind == verdict.kind;
    });
    INFO(textOf(*module));
    auto forward = module->lookupSymbol<func::FuncOp>("forward");
    CHECK(llvm::range_size(forward.front().without_terminator()) <= 5);
  }
}
