// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compiled_node_tests FOLDER EXPECTATIONS COMPILED_EXPECTATIONS [PREFIX]: compiles each node test's
// model that the interpreter evaluates rightly, runs it by the runtime, and compares. Where the
// reason begins with "interpreter:", compiled code is expected to do what the interpreter does not.
#include "Expectations.h"
#include "NodeTestCase.h"

#include "driver/Pipeline.h"
#include "ir/prim/FunctionContract.h"
#include "kernels/Compiled.h"

#include <iostream>
#include <set>

using namespace accc;
namespace fs = std::filesystem;

namespace {

/// Generating and loading a library takes as long as the kernels of some dozen tests.
constexpr size_t kPerLibrary = 48;

/// One data set of a test, ready to be scheduled.
struct Prepared {
  std::string test;
  NodeTestCase data;
  mlir::OwningOpRef<mlir::ModuleOp> module; // one function
  WeightTable weights;

  mlir::func::FuncOp function() { return *module->getOps<mlir::func::FuncOp>().begin(); }
  /// The operator needs all its inputs at compile time: what is left is a constant.
  bool isFolded() { return !data.inputNames.empty() && function().getNumArguments() == 0; }
};

/// The phases of `accc compile` from the import to the schedule. Gives what went wrong.
std::string fuse(Prepared &prepared, mlir::MLIRContext &context) {
  CompileOptions options;
  Compilation compilation(context, options);
  compilation.module = std::move(prepared.module);
  bool begun = false;
  for (const std::string &phase : phaseNames()) {
    if (phase == "schedule")
      break;
    if (begun && failed(runPhase(compilation, phase)))
      return phase + " fails: " +
             (compilation.problems.get().empty() ? "" : compilation.problems.get()[0].message);
    begun |= phase == "import";
  }
  prepared.module = std::move(compilation.module);
  return "";
}

std::string prepare(const fs::path &folder, const std::string &dataSet, mlir::MLIRContext &context,
                    Prepared &prepared) {
  prepared.test = folder.filename().string();
  std::string model = (folder / "model.onnx").string();
  if (std::string reason = readNodeTest(model, dataSet, context, prepared.data); !reason.empty())
    return reason;
  ImportResult result = importNodeTest(model, prepared.data, context);
  if (!result.module)
    return joined(result.problems);
  prepared.module = std::move(result.module);
  prepared.weights = std::move(result.weights);
  return fuse(prepared, context);
}

/// Runs the entry point that the test's function became.
std::string runAndCompare(Session &session, const std::string &entry, Prepared &prepared) {
  mlir::func::FuncOp function = prepared.function();
  const NodeTestCase &data = prepared.data;
  TensorMap inputs;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    std::string name = function.getArgAttrOfType<mlir::StringAttr>(i, kNameAttr).str();
    auto at = llvm::find(data.inputNames, name);
    if (at != data.inputNames.end())
      inputs.emplace(
          name, test::toTensor(toReference(data.inputs[at - data.inputNames.begin()]),
                               mlir::cast<mlir::RankedTensorType>(function.getArgumentTypes()[i])));
  }
  try {
    Result result = session.run(entry, inputs);
    for (unsigned i = 0; i < data.outputs.size(); ++i) {
      auto type = mlir::cast<mlir::RankedTensorType>(function.getResultTypes()[i]);
      std::string name = function.getResultAttrOfType<mlir::StringAttr>(i, kNameAttr).str();
      std::string reason = compare(data.outputs[i], type, test::toArray(result[name], type));
      if (!reason.empty())
        return "output '" + data.outputNames[i] + "': " + reason;
    }
  } catch (const std::exception &error) { // as code without RTTI must
    return error.what();
  }
  return "";
}

/// Compiles some tests into one library and runs them; `failures` by test.
void compileAndRun(llvm::MutableArrayRef<Prepared> some, mlir::MLIRContext &context,
                   std::map<std::string, std::string> &failures) {
  mlir::OwningOpRef<mlir::ModuleOp> all = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  auto entry = [](size_t i) { return "test" + std::to_string(i); };
  for (auto [i, prepared] : llvm::enumerate(some)) {
    mlir::func::FuncOp copy = prepared.function().clone();
    copy.setName(entry(i));
    all->push_back(copy);
  }
  test::Compiled compiled = test::compileFused(*all, "x86-64-v3", some.front().weights);
  if (!compiled.session && some.size() > 1) { // to see which of them it is
    for (Prepared &prepared : some)
      compileAndRun(prepared, context, failures);
    return;
  }
  for (auto [i, prepared] : llvm::enumerate(some)) {
    std::string reason =
        compiled.session ? runAndCompare(*compiled.session, entry(i), prepared) : compiled.error;
    if (!reason.empty())
      failures.emplace(prepared.test, reason);
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4) {
    std::cerr << "usage: compiled_node_tests FOLDER EXPECTATIONS COMPILED_EXPECTATIONS [PREFIX]\n";
    return 2;
  }
  if (!fs::exists(argv[1])) {
    std::cout << "skipped: no folder " << argv[1] << "\n";
    return 77;
  }
  std::string prefix = argc > 4 ? argv[4] : "";
  Expectations interpreted(argv[2], ""), expectations(argv[3], "compiled_node_tests");
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  registerDialects(context);

  std::vector<std::string> tests;
  std::map<std::string, std::string> failures;
  std::set<std::string> folded;
  std::vector<Prepared> together, alone;
  for (const fs::path &folder : findNodeTests(argv[1], prefix)) {
    std::string test = folder.filename().string();
    if (interpreted.isListed(test) &&
        !llvm::StringRef(interpreted.reason(test)).starts_with("interpreter:"))
      continue;
    tests.push_back(test);
    for (const std::string &dataSet : dataSetsOf(folder)) {
      Prepared prepared;
      if (std::string reason = prepare(folder, dataSet, context, prepared); !reason.empty()) {
        failures.emplace(test, reason);
        continue;
      }
      if (prepared.isFolded())
        folded.insert(test);
      // Variables of one library have different names.
      bool apart = !prepared.weights.empty() || expectations.isListed(test);
      (apart ? alone : together).push_back(std::move(prepared));
    }
  }
  for (llvm::MutableArrayRef<Prepared> rest = together; !rest.empty();) {
    auto some = rest.take_front(kPerLibrary);
    compileAndRun(some, context, failures);
    rest = rest.drop_front(some.size());
  }
  for (Prepared &each : alone)
    compileAndRun(each, context, failures);
  for (const std::string &test : tests) {
    expectations.note(test, failures[test]);
    if (!failures[test].empty())
      folded.erase(test);
  }
  bool good = !prefix.empty() || expectations.finish();
  std::cout << expectations.passed() << " of " << tests.size() << " pass, " << folded.size()
            << " of these with all inputs known at compile time\n";
  return good ? 0 : 1;
}
