// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interpret before = interpret after, for every pass of lib/fusion on every function of its lit
// tests.
#include "fusion/Passes.h"
#include "ir/nn/Nn.h"
#include "reference/interpreter/Interpreter.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>

using namespace mlir;
using namespace accc;

namespace {

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

/// Values that every op takes: floats in (0.1, 1.9), small integers, both booleans; the same each
/// time.
std::vector<ReferenceArray> argumentsFor(func::FuncOp function) {
  std::vector<ReferenceArray> arguments;
  double position = 0.37;
  for (Type type : function.getArgumentTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    ReferenceArray &array = arguments.emplace_back(tensor.getShape());
    for (double &value : array.values) {
      position = std::fmod(position + 0.6180339887498949, 1.0);
      value =
          isa<FloatType>(tensor.getElementType()) ? 0.1 + 1.8 * position : std::floor(2 * position);
    }
  }
  return arguments;
}

bool isClose(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return true;
  return std::abs(a - b) <= 1e-6 * std::max({1.0, std::abs(a), std::abs(b)});
}

void checkPass(std::function<std::unique_ptr<Pass>()> create) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect, nn::NnDialect>();
  int functions = 0;
  for (const std::string &file : testFiles()) {
    INFO(file);
    ParserConfig config(&context);
    auto before = parseSourceFile<ModuleOp>(file, config);
    REQUIRE(before);
    OwningOpRef<ModuleOp> after = before->clone();
    PassManager passes(&context);
    passes.addNestedPass<func::FuncOp>(create());
    REQUIRE(succeeded(passes.run(*after)));
    for (auto function : before->getOps<func::FuncOp>()) {
      INFO(function.getName().str());
      auto changed = after->lookupSymbol<func::FuncOp>(function.getName());
      std::vector<ReferenceArray> arguments = argumentsFor(function);
      SmallVector<ReferenceArray> expected, found;
      REQUIRE(succeeded(interpret(function, arguments, expected)));
      REQUIRE(succeeded(interpret(changed, arguments, found)));
      REQUIRE(found.size() == expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].shape == expected[i].shape);
        CHECK(std::equal(found[i].values.begin(), found[i].values.end(), expected[i].values.begin(),
                         expected[i].values.end(), isClose));
      }
      ++functions;
    }
  }
  CHECK(functions > 0);
}

} // namespace

TEST_CASE("--decompose keeps values") { checkPass(createDecomposePass); }
TEST_CASE("--simplify keeps values") { checkPass(createSimplifyPass); }
TEST_CASE("--lay-out-contractions keeps values") { checkPass(createLayOutContractionsPass); }
