// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// onnx_node_tests FOLDER EXPECTATIONS [PREFIX]: imports each node test's model, interprets it, and
// compares.
#include "Expectations.h"
#include "NodeTestCase.h"

#include "reference/interpreter/Interpreter.h"

#include "mlir/IR/Diagnostics.h"

#include <filesystem>
#include <iostream>

using namespace accc;
namespace fs = std::filesystem;

namespace {

std::string interpretAndCompare(const ImportResult &model, const NodeTestCase &test) {
  mlir::ModuleOp module = *model.module;
  auto forward = module.lookupSymbol<mlir::func::FuncOp>("forward");
  llvm::SmallVector<ReferenceArray> arguments = argumentsOf(model, test), results;
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    diagnostics += diagnostic.str();
    return mlir::success();
  });
  if (failed(interpret(forward, arguments, results)))
    return "interpreting fails: " + diagnostics;
  for (unsigned i = 0; i < test.outputs.size(); ++i)
    if (std::string reason = compare(test.outputs[i], forward.getResultTypes()[i], results[i]);
        !reason.empty())
      return "output '" + test.outputNames[i] + "': " + reason;
  return "";
}

std::string run(const fs::path &folder) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string model = (folder / "model.onnx").string();
  for (const std::string &dataSet : dataSetsOf(folder)) {
    NodeTestCase test;
    if (std::string reason = readNodeTest(model, dataSet, context, test); !reason.empty())
      return reason;
    ImportResult result = importNodeTest(model, test, context);
    if (!result.module)
      return joined(result.problems);
    if (std::string reason = interpretAndCompare(result, test); !reason.empty())
      return reason;
  }
  return "";
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::cerr << "usage: onnx_node_tests FOLDER EXPECTATIONS [PREFIX]\n";
    return 2;
  }
  if (!fs::exists(argv[1])) {
    std::cout << "skipped: no folder " << argv[1] << "\n";
    return 77;
  }
  std::string prefix = argc > 3 ? argv[3] : "";
  Expectations expectations(argv[2], "onnx_node_tests");
  std::vector<fs::path> folders = findNodeTests(argv[1], prefix);
  for (const fs::path &folder : folders)
    expectations.note(folder.filename().string(), run(folder));
  bool good = !prefix.empty() || expectations.finish();
  std::cout << expectations.passed() << " of " << folders.size() << " pass\n";
  return good ? 0 : 1;
}
