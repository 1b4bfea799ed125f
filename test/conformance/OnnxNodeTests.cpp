// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// onnx_node_tests FOLDER EXPECTATIONS [PREFIX]: imports each node test's model, interprets it, and
// compares.
#include "Expectations.h"
#include "NodeTestCase.h"

#include "frontend/onnx/Import.h"
#include "reference/interpreter/Interpreter.h"
#include "support/Attributes.h"

#include "mlir/IR/Diagnostics.h"

#include <filesystem>
#include <iostream>

using namespace accc;
namespace fs = std::filesystem;

namespace {

/// Which inputs are given as constants: shapes and axes must be known to the compiler, and the
/// tests feed them like data. First none, then the integers and booleans after the first input,
/// then all.
enum class Bind { None, Integers, All };

ImportOptions optionsFor(const NodeTestCase &test, Bind bind) {
  ImportOptions options;
  options.training = false;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    auto type = llvm::cast<mlir::RankedTensorType>(test.inputs[i].getType());
    bool isFloat = llvm::isa<mlir::FloatType>(type.getElementType());
    if (bind == Bind::All || (bind == Bind::Integers && i > 0 && !isFloat))
      options.inputs[test.inputNames[i]] = test.inputs[i];
    for (int64_t d = 0; d < type.getRank(); ++d)
      options.dimensions[test.inputNames[i] + "." + std::to_string(d)] = type.getDimSize(d);
  }
  return options;
}

std::string joined(const std::vector<ImportProblem> &problems) {
  std::string text;
  for (const ImportProblem &problem : problems)
    text += (text.empty() ? "" : "; ") + problem.text();
  return text;
}

std::string interpretAndCompare(mlir::ModuleOp module, const NodeTestCase &test) {
  auto forward = module.lookupSymbol<mlir::func::FuncOp>("forward");
  llvm::SmallVector<ReferenceArray> arguments, results;
  for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
    auto name = forward.getArgAttrOfType<mlir::StringAttr>(i, kNameAttr).getValue();
    auto at = llvm::find(test.inputNames, name);
    if (at != test.inputNames.end())
      arguments.push_back(toReference(test.inputs[at - test.inputNames.begin()]));
    else if (name == "random_key")
      arguments.push_back(ReferenceArray({2}, 7));
    else
      return "the argument '" + name.str() + "' is no input of the test";
  }
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
  for (int set = 0; fs::exists(folder / ("test_data_set_" + std::to_string(set))); ++set) {
    NodeTestCase test;
    std::string dataSet = (folder / ("test_data_set_" + std::to_string(set))).string();
    if (std::string reason = readNodeTest(model, dataSet, context, test); !reason.empty())
      return reason;
    ImportResult result;
    for (Bind bind : {Bind::None, Bind::Integers, Bind::All}) {
      result = importOnnx(model, optionsFor(test, bind), context);
      if (result.module)
        break;
    }
    if (!result.module)
      return joined(result.problems);
    if (std::string reason = interpretAndCompare(*result.module, test); !reason.empty())
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
  Expectations expectations(argv[2]);
  std::vector<fs::path> folders;
  for (const fs::directory_entry &entry : fs::directory_iterator(argv[1]))
    if (fs::exists(entry.path() / "model.onnx") &&
        entry.path().filename().string().rfind(prefix, 0) == 0)
      folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  for (const fs::path &folder : folders)
    expectations.note(folder.filename().string(), run(folder));
  bool good = !prefix.empty() || expectations.finish();
  std::cout << expectations.passed() << " of " << folders.size() << " pass\n";
  return good ? 0 : 1;
}
