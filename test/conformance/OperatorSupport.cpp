// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// operator_support FOLDER EXPECTATIONS SAMPLES: prints, as JSON, what the importer says of each
// operator that it knows. It asks by importing ONNX's node tests, and samples for operators that
// have none, as they are and changed: with other element types, and with inputs that are not known
// at compile time. operator_support --aten prints the table of ATen's operators.
#include "Expectations.h"
#include "NodeTestCase.h"

#include "driver/Pipeline.h"
#include "frontend/aten/OpTable.h"
#include "frontend/onnx/Import.h"
#include "frontend/onnx/Proto.h"
#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/FunctionContract.h"
#include "ir/prim/Tensor.h"
#include "training/autodiff/Activity.h"
#include "training/autodiff/Differentiate.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <onnx/defs/parser.h>

#include <iostream>
#include <set>

using namespace accc;
namespace fs = std::filesystem;

namespace {

std::string nameOf(const onnx::NodeProto &node) {
  bool standard = node.domain().empty() || node.domain() == "ai.onnx";
  return standard ? node.op_type() : node.domain() + "." + node.op_type();
}

/// A model of one operator. Without `data` its inputs are as the graph declares them, and its
/// initializers are what must be known.
struct Case {
  std::string op;
  onnx::ModelProto model;
  std::optional<NodeTestCase> data;

  const auto &inputs() const { return model.graph().input(); }
  const onnx::NodeProto &node() const {
    return *llvm::find_if(model.graph().node(),
                          [&](const onnx::NodeProto &node) { return nameOf(node) == op; });
  }
};

/// The cases of each operator.
using Cases = std::map<std::string, std::vector<Case>>;

/// What is printed of one operator.
struct Support {
  std::vector<std::string> types;
  /// Positions of inputs that must be constants, and the node tests that do not pass with the
  /// reason.
  std::set<int> constants;
  std::map<std::string, std::string> excluded;
  bool hasGradient = false, hasZeroGradient = false;
  std::set<std::string> gradientProblems;
};

constexpr std::pair<onnx::TensorProto::DataType, const char *> kTypes[] = {
    {onnx::TensorProto::FLOAT, "f32"},   {onnx::TensorProto::DOUBLE, "f64"},
    {onnx::TensorProto::FLOAT16, "f16"}, {onnx::TensorProto::BFLOAT16, "bf16"},
    {onnx::TensorProto::INT8, "i8"},     {onnx::TensorProto::INT16, "i16"},
    {onnx::TensorProto::INT32, "i32"},   {onnx::TensorProto::INT64, "i64"},
    {onnx::TensorProto::UINT8, "u8"},    {onnx::TensorProto::UINT16, "u16"},
    {onnx::TensorProto::UINT32, "u32"},  {onnx::TensorProto::UINT64, "u64"},
    {onnx::TensorProto::BOOL, "bool"},
};

// ---- imports ----

/// Imports a case, with the inputs that `isConstant` names as constants. Null where that fails.
mlir::OwningOpRef<mlir::ModuleOp> import(const Case &test, llvm::function_ref<bool(int)> isConstant,
                                         mlir::MLIRContext &context) {
  ImportOptions options;
  options.training = false;
  for (const auto &[i, input] : llvm::enumerate(test.inputs())) {
    if (!test.data)
      break;
    mlir::DenseElementsAttr value = test.data->inputs[i];
    auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
    for (int64_t d = 0; d < type.getRank(); ++d)
      options.dimensions[input.name() + "." + std::to_string(d)] = type.getDimSize(d);
    if (isConstant(static_cast<int>(i)))
      options.inputs[input.name()] = value;
  }
  return importOnnxBytes(test.model.SerializeAsString(), "", options, context).module;
}

/// The inputs that must be constants; nothing where the case is refused even with constants alone.
std::optional<std::set<int>> constantInputs(const Case &test, mlir::MLIRContext &context) {
  std::set<int> needed;
  int count = test.data ? test.inputs().size() : 0;
  if (import(test, [](int) { return false; }, context))
    return needed;
  if (!import(test, [](int) { return true; }, context))
    return std::nullopt;
  for (int i = 0; i < count; ++i)
    if (!import(test, [&](int j) { return j != i; }, context))
      needed.insert(i);
  if (!import(test, [&](int j) { return needed.count(j); }, context))
    for (int i = 0; i < count; ++i) // one of several is enough: name all
      needed.insert(i);
  return needed;
}

// ---- element types ----

/// The type of the first input that is data: none that must be known, and a condition only where
/// there is nothing else.
std::optional<int> dataType(const Case &test, const std::set<int> &constants) {
  std::optional<int> found;
  for (const auto &[i, input] : llvm::enumerate(test.inputs()))
    if (!constants.count(static_cast<int>(i)) &&
        found.value_or(onnx::TensorProto::BOOL) == onnx::TensorProto::BOOL)
      found = input.type().tensor_type().elem_type();
  return found;
}

/// The case with all inputs and outputs of the element type `from` in the type `to`.
Case retyped(Case test, const std::set<int> &constants, int from, int to) {
  auto retype = [&](onnx::ValueInfoProto &value) {
    if (value.type().tensor_type().elem_type() == from)
      value.mutable_type()->mutable_tensor_type()->set_elem_type(to);
  };
  for (int i = 0; i < test.inputs().size(); ++i)
    if (!constants.count(i))
      retype(*test.model.mutable_graph()->mutable_input(i));
  for (onnx::ValueInfoProto &output : *test.model.mutable_graph()->mutable_output())
    retype(output);
  return test;
}

/// True if the import takes the module, and training does.
bool isSupported(mlir::OwningOpRef<mlir::ModuleOp> module, mlir::MLIRContext &context) {
  if (!module)
    return false;
  CompileOptions options;
  Compilation compilation(context, options);
  compilation.module = std::move(module);
  return succeeded(runPhase(compilation, "decompose"));
}

// ---- gradients ----

/// Differentiates the sum of all float results by all float arguments.
void findGradient(mlir::ModuleOp module, Support &support) {
  auto forward = module.lookupSymbol<mlir::func::FuncOp>("forward");
  mlir::Operation *end = forward.front().getTerminator();
  mlir::OpBuilder builder(end);
  llvm::SmallVector<mlir::Value> wanted;
  for (mlir::Value argument : forward.getArguments())
    if (isFloatTensor(argument.getType()))
      wanted.push_back(argument);
  mlir::Value loss;
  for (mlir::Value result : end->getOperands())
    if (isFloatTensor(result.getType())) {
      prim::Tensor sum = prim::sumAll(prim::Tensor(builder, forward.getLoc(), result))
                             .convert(builder.getF64Type());
      loss = loss ? sum + prim::Tensor(builder, forward.getLoc(), loss) : sum;
    }
  if (!loss || wanted.empty())
    return;
  std::string problem;
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    problem += (problem.empty() ? "" : "; ") + diagnostic.str();
    return mlir::success();
  });
  auto gradients = differentiate(loss, wanted, builder);
  if (failed(gradients))
    support.gradientProblems.insert(problem);
  else if (llvm::any_of(*gradients, [](mlir::Value gradient) {
             return gradient && !matchPattern(gradient, mlir::m_AnyZeroFloat());
           }))
    support.hasGradient = true;
  else
    support.hasZeroGradient = true;
}

// ---- cases ----

Cases readSamples(const std::string &path) {
  Cases cases;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    std::cerr << "cannot read " << path << "\n";
    std::exit(2);
  }
  llvm::SmallVector<std::string> entries;
  llvm::SmallVector<llvm::StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (llvm::StringRef line : lines) {
    if (line.starts_with(" ") && !entries.empty())
      entries.back() += "\n" + line.str();
    else if (!line.empty() && !line.starts_with("#"))
      entries.push_back(line.str());
  }
  for (llvm::StringRef entry : entries) {
    auto [opset, rest] = entry.split(' ');
    auto [op, graph] = rest.split(' ');
    Case test;
    test.op = op.str();
    std::string text = "<ir_version: 8, opset_import: [\"\" : " + opset.str() +
                       ", \"ai.onnx.preview.training\" : 1]>\n" + graph.str();
    auto status = onnx::OnnxParser::Parse(test.model, text.c_str());
    if (!status.IsOK()) {
      std::cerr << "the sample of " << op.str() << ": " << status.ErrorMessage() << "\n";
      std::exit(2);
    }
    cases[op.str()].push_back(std::move(test));
  }
  return cases;
}

/// Adds the node test to the cases of its operator if it is of one node, and why it is excluded to
/// its `support`.
void readTest(const fs::path &folder, const Expectations &expectations, Cases &cases,
              std::map<std::string, Support> &supports, mlir::MLIRContext &context) {
  std::string name = folder.filename().string();
  Case test;
  auto buffer = llvm::MemoryBuffer::getFile((folder / "model.onnx").string());
  if (!buffer || !test.model.ParseFromArray((*buffer)->getBufferStart(),
                                            static_cast<int>((*buffer)->getBufferSize())))
    return;
  if (test.model.graph().node_size() != 1)
    return;
  std::string op = test.op = nameOf(test.model.graph().node(0));
  if (expectations.isListed(name)) {
    supports[op].excluded[name] = expectations.reason(name);
    return;
  }
  NodeTestCase data;
  std::vector<std::string> sets = dataSetsOf(folder);
  if (sets.empty() ||
      !readNodeTest((folder / "model.onnx").string(), sets.front(), context, data).empty())
    return;
  test.data = std::move(data);
  cases[op].push_back(std::move(test));
}

/// Element types are asked of cases that are complete: others leave inputs out.
void probe(const Case &test, bool isComplete, Support &support, mlir::MLIRContext &context) {
  std::optional<std::set<int>> constants = constantInputs(test, context);
  if (!constants)
    return;
  auto isConstant = [&](int i) { return constants->count(i) != 0; };
  std::set<std::string> known;
  for (int i : *constants)
    known.insert(test.inputs()[i].name());
  for (const onnx::TensorProto &tensor : test.model.graph().initializer())
    known.insert(tensor.name());
  for (const auto &[position, input] : llvm::enumerate(test.node().input()))
    if (known.count(input))
      support.constants.insert(static_cast<int>(position));
  std::optional<int> from = dataType(test, *constants);
  if (from && *from != onnx::TensorProto::BOOL)
    if (Case floats = retyped(test, *constants, *from, onnx::TensorProto::FLOAT);
        auto module = import(floats, isConstant, context))
      findGradient(*module, support);
  if (auto module = import(test, isConstant, context))
    findGradient(*module, support);
  for (auto [type, name] : kTypes) {
    if (!from || !isComplete || llvm::is_contained(support.types, name))
      continue;
    Case changed = retyped(test, *constants, *from, type);
    if (isSupported(import(changed, isConstant, context), context))
      support.types.push_back(name);
  }
}

llvm::json::Object describe(const Support &support) {
  llvm::json::Array types;
  for (auto [type, name] : kTypes)
    if (llvm::is_contained(support.types, name))
      types.push_back(name);
  llvm::json::Object excluded;
  for (const auto &[test, reason] : support.excluded)
    excluded[test] = reason;
  std::string gradient = !support.gradientProblems.empty() ? "missing"
                         : support.hasGradient             ? "yes"
                         : support.hasZeroGradient         ? "zero"
                                                           : "none";
  return llvm::json::Object{{"types", std::move(types)},
                            {"gradient", gradient},
                            {"constants", llvm::json::Array(support.constants)},
                            {"excluded", std::move(excluded)}};
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 2 && llvm::StringRef(argv[1]) == "--aten") {
    for (const std::string &row : aten::allOperators())
      llvm::outs() << row << "\n";
    return 0;
  }
  if (argc != 4) {
    std::cerr
        << "usage: operator_support FOLDER EXPECTATIONS SAMPLES, or operator_support --aten\n";
    return 2;
  }
  if (!fs::exists(argv[1])) {
    std::cerr << "skipped: no folder " << argv[1] << "\n";
    return 77;
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  registerDialects(context);
  Expectations expectations(argv[2], "");
  std::map<std::string, Support> supports;
  Cases cases = readSamples(argv[3]);
  for (const fs::path &folder : findNodeTests(argv[1], ""))
    readTest(folder, expectations, cases, supports, context);

  llvm::json::Object operators;
  bool isComplete = true;
  for (const OnnxOperator &op : onnxOperators()) {
    Support &support = supports[op.name];
    if (cases[op.name].empty()) {
      std::cerr << "no node test and no sample of " << op.name << "\n";
      isComplete = false;
    }
    int most = 0;
    for (const Case &test : cases[op.name])
      most = std::max(most, test.node().input_size());
    for (const Case &test : cases[op.name])
      probe(test, test.node().input_size() == most, support, context);
    llvm::json::Object described = describe(support);
    described["oldest"] = op.oldest;
    operators[op.name] = std::move(described);
  }
  llvm::outs() << llvm::formatv(
      "{0:2}\n", llvm::json::Value(llvm::json::Object{{"newest", newestOnnxOpset()},
                                                      {"operators", std::move(operators)}}));
  return isComplete ? 0 : 1;
}
