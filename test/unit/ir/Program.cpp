// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program.h"

#include "ir/nn/Nn.h"
#include "ir/prim/Prim.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace mlir;
using namespace accc;

namespace accc::test {

MLIRContext &context() {
  static MLIRContext *shared = [] {
    DialectRegistry registry;
    registry.insert<func::FuncDialect, prim::PrimDialect, nn::NnDialect>();
    auto *created = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    created->loadAllAvailableDialects();
    return created;
  }();
  return *shared;
}

namespace {
/// Collects the diagnostics of a scope.
struct Diagnostics {
  std::string text;
  ScopedDiagnosticHandler handler{&context(), [this](Diagnostic &diagnostic) {
                                    text += diagnostic.str() + "\n";
                                    return success();
                                  }};
};
} // namespace

Program::Program(const std::string &text) {
  Diagnostics diagnostics;
  module = parseSourceString<ModuleOp>(text, ParserConfig(&context()));
  INFO(text << diagnostics.text);
  REQUIRE(module);
}

func::FuncOp Program::function() { return module->lookupSymbol<func::FuncOp>("f"); }

std::vector<ReferenceArray> Program::run(ArrayRef<ReferenceArray> arguments) {
  Diagnostics diagnostics;
  SmallVector<ReferenceArray> results;
  bool done = succeeded(interpret(function(), arguments, results));
  INFO(diagnostics.text);
  REQUIRE(done);
  return {results.begin(), results.end()};
}

std::string Program::failure(ArrayRef<ReferenceArray> arguments) {
  Diagnostics diagnostics;
  SmallVector<ReferenceArray> results;
  return succeeded(interpret(function(), arguments, results)) ? "" : diagnostics.text;
}

ReferenceArray array(ArrayRef<int64_t> shape, std::vector<double> values) {
  ReferenceArray result(shape);
  REQUIRE(result.values.size() == values.size());
  result.values = std::move(values);
  return result;
}

ReferenceArray array(std::vector<double> values) {
  return array({static_cast<int64_t>(values.size())}, values);
}

bool isClose(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

std::string difference(ArrayRef<double> found, ArrayRef<double> expected, double tolerance) {
  if (found.size() != expected.size())
    return llvm::formatv("{0} elements, expected {1}", found.size(), expected.size());
  std::string lines;
  for (size_t i = 0; i < found.size(); ++i)
    if (!isClose(found[i], expected[i], tolerance))
      lines += llvm::formatv("[{0}]: {1}, expected {2}\n", i, found[i], expected[i]);
  return lines;
}

} // namespace accc::test
