// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interpret before = interpret after, for every pass of lib/fusion on every function of its lit
// tests. An error in the data stays one.
#include "Equivalence.h"
#include "budget/Passes.h"
#include "fusion/Passes.h"
#include "ir/nn/Nn.h"
#include "ir/prim/Cost.h"
#include "layout/Passes.h"
#include "support/SizeThreshold.h"
#include "transforms/Passes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <catch2/catch.hpp>

#include <functional>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

/// More take the interpreter minutes.
constexpr double kMostFlops = 1e8;

std::vector<std::string> testFiles() {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator at(ACCC_TEST_SOURCE "/fusion", error), end;
       at != end && !error; at.increment(error))
    if (llvm::sys::path::extension(at->path()) == ".mlir")
      files.push_back(at->path());
  llvm::sort(files);
  return files;
}

/// Whether the function can be evaluated; the error is no news.
bool evaluates(func::FuncOp function, ArrayRef<ReferenceArray> arguments,
               SmallVector<ReferenceArray> &results) {
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); });
  return succeeded(interpret(function, arguments, results));
}

void checkPass(ArrayRef<std::unique_ptr<Pass> (*)()> creators) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect, nn::NnDialect>();
  int functions = 0, errors = 0;
  for (const std::string &file : testFiles()) {
    INFO(file);
    ParserConfig config(&context);
    auto before = parseSourceFile<ModuleOp>(file, config);
    REQUIRE(before);
    OwningOpRef<ModuleOp> after = before->clone();
    PassManager passes(&context);
    for (const auto &create : creators)
      passes.addNestedPass<func::FuncOp>(create());
    REQUIRE(succeeded(passes.run(*after)));
    for (auto function : before->getOps<func::FuncOp>()) {
      if (flopsOf(function) > kMostFlops)
        continue;
      INFO(function.getName().str());
      auto changed = after->lookupSymbol<func::FuncOp>(function.getName());
      std::vector<ReferenceArray> arguments = sampleArguments(function);
      SmallVector<ReferenceArray> expected, found;
      bool isValid = evaluates(function, arguments, expected);
      REQUIRE(evaluates(changed, arguments, found) == isValid);
      CHECK(difference(found, expected, 1e-6) == "");
      ++(isValid ? functions : errors);
    }
  }
  CHECK(functions > 0);
  CHECK(errors < functions / 10);
}

} // namespace

TEST_CASE("--decompose keeps values") { checkPass({createDecomposePass}); }
TEST_CASE("--split-windows keeps values") { checkPass({createSplitWindowsPass}); }
TEST_CASE("--recognize-attention keeps values") {
  checkPass({[] { return createRecognizeAttentionPass({/*widenScores=*/true}); }});
}
TEST_CASE("--form-attention keeps values") {
  checkPass({[] { return createRecognizeAttentionPass({/*widenScores=*/true}); },
             [] { return createFormAttentionPass(); }});
}
TEST_CASE("--sink-views keeps values") { checkPass({createSinkViewsPass}); }
TEST_CASE("--simplify keeps values") { checkPass({createSimplifyPass}); }
TEST_CASE("--round-contractions keeps values, which the interpreter rounds nowhere") {
  checkPass({createDecomposePass, createRoundContractionsPass, createSimplifyPass,
             [] { return createFuseEpiloguesPass({"cuda", {}}); }});
}
TEST_CASE("--view-attention-operands keeps values") {
  checkPass({[] { return createViewAttentionOperandsPass({"cuda", {}}); }});
}
TEST_CASE("--view-contraction-operands keeps values") {
  checkPass({[] { return createLayOutContractionsPass(); },
             [] { return createViewContractionOperandsPass({"cuda", {}}); }});
}
TEST_CASE("--lay-out-contractions keeps values") { checkPass({createLayOutContractionsPass}); }
TEST_CASE("--pad-contractions keeps values") {
  const int64_t divisor = getSizeDivisor();
  setSizeDivisor(256); // undivided, small products are not padded
  checkPass({[] { return createPadContractionsPass({"cuda", {}, true}); }});
  setSizeDivisor(divisor);
}
TEST_CASE("--split-factorizations keeps values") { checkPass({createSplitFactorizationsPass}); }
TEST_CASE("--pack-operands keeps values") { checkPass({createPackOperandsPass}); }
TEST_CASE("--form-fusions keeps values") {
  checkPass({createDecomposePass, createFormFusionsPass});
}
TEST_CASE("--fuse-horizontally keeps values") {
  checkPass({createDecomposePass, createFormFusionsPass, createFuseHorizontallyPass});
}
TEST_CASE("--split-reductions keeps values") { checkPass({createSplitReductionsPass}); }
TEST_CASE("--compare-scatters keeps values") {
  checkPass({[] { return createCompareScattersPass({"cuda", {}}); }});
}
TEST_CASE("--invert-scatters keeps values") {
  checkPass({[] { return createInvertScattersPass({"cuda", {}}); }});
}
TEST_CASE("--index-rows keeps values") { checkPass({createIndexRowsPass}); }
TEST_CASE("--sort-scatters keeps values") {
  checkPass({[] { return createSortScattersPass({"cuda", {}}); }});
}
TEST_CASE("--split-sorts keeps values") {
  checkPass({[] { return createSplitSortsPass({"cuda", {}}); }});
}
TEST_CASE("--split-scans keeps values") {
  checkPass({[] { return createSplitScansPass({"cuda", {}}); }});
}
TEST_CASE("--compute-counts keeps values") {
  checkPass({[] { return createComputeCountsPass({"cuda", {}}); }});
}
TEST_CASE("--lay-out-convolutions keeps values") { checkPass({createLayOutConvolutionsPass}); }
TEST_CASE("--compute-in-chunks keeps values") {
  checkPass({createDecomposePass,
             [] { return createComputeInChunksPass({"cpu", {}, 4096, 2048, true}); }});
}
