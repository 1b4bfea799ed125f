// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Recovery.h"

#include "llvm/ADT/STLExtras.h"

using namespace accc::onnx_import;

void Recovery::add(llvm::StringRef name, const llvm::Twine &how, llvm::StringRef evidence) {
  std::string line = (name + ": " + how + " (" + evidence + ")").str();
  if (!llvm::is_contained(parameters, line))
    parameters.push_back(std::move(line));
}

void Recovery::addAlias(llvm::StringRef name, llvm::StringRef alias) {
  std::vector<std::string> &names = aliases[name.str()];
  if (!llvm::is_contained(names, alias))
    names.push_back(alias.str());
}

/// Programs that optimize files for inference: zeros and ones that are added and multiplied go,
/// equal initialisers become one, and with them parameters that a module starts from.
void accc::onnx_import::findOptimizers(const onnx::ModelProto &model, Recovery &recovery) {
  for (const onnx::OperatorSetIdProto &set : model.opset_import())
    if (set.domain() == "com.microsoft.nchwc") // in every file that it saves
      recovery.damage.add(Loss::Optimized, "ONNX Runtime");
  for (const onnx::StringStringEntryProto &entry : model.metadata_props())
    if (llvm::StringRef(entry.key()).starts_with("onnxsim."))
      recovery.damage.add(Loss::Optimized, "onnxsim");
}

/// Optimizers for inference give a convolution that they fold a batch norm into a weight of a name
/// of their own.
static void findFoldedConvolutions(const onnx::GraphProto &graph, Recovery &recovery) {
  llvm::StringSet<> folded;
  for (const onnx::TensorProto &tensor : graph.initializer())
    if (isOfOptimizer(tensor.name()))
      folded.insert(tensor.name());
  for (const onnx::NodeProto &node : graph.node())
    if (llvm::StringRef(node.op_type()).starts_with("Conv") && node.input_size() > 1 &&
        folded.contains(node.input(1)))
      recovery.damage.add(Loss::FoldedConvolution, Evidence::placeOf(node));
}

namespace {

/// Which names the nodes of a model-local function read, calls of functions aside that do not read
/// what they are handed.
class NamesRead {
public:
  explicit NamesRead(const onnx::ModelProto &model) {
    for (const onnx::FunctionProto &function : model.functions())
      functions[function.domain() + ":" + function.name()] = &function;
  }

  void add(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
           llvm::StringSet<> &read, int depth = 0) {
    for (const onnx::NodeProto &node : nodes) {
      const onnx::FunctionProto *callee = functions.lookup(node.domain() + ":" + node.op_type());
      for (int i = 0; i < node.input_size(); ++i)
        if (!callee || i >= callee->input_size() ||
            readBy(*callee, depth).contains(callee->input(i)))
          read.insert(node.input(i));
      for (const onnx::AttributeProto &attribute : node.attribute())
        if (attribute.has_g())
          add(attribute.g().node(), read, depth + 1);
    }
  }

private:
  const llvm::StringSet<> &readBy(const onnx::FunctionProto &function, int depth) {
    constexpr int deepest = 100; // modules nest in modules; no model's do so often
    auto [known, isNew] = found.try_emplace(&function);
    if (!isNew)
      return known->second;
    llvm::StringSet<> read;
    if (depth < deepest)
      add(function.node(), read, depth + 1);
    else
      read.insert(function.input().begin(), function.input().end());
    return found[&function] = std::move(read);
  }

  llvm::StringMap<const onnx::FunctionProto *> functions;
  std::map<const onnx::FunctionProto *, llvm::StringSet<>> found;
};

} // namespace

/// torch.onnx.dynamo_export (PyTorch up to 2.5) writes a function for each module and hands it the
/// parameters that the module reads. Those that it does not read were folded by the optimizer.
static void findFoldedArguments(const onnx::ModelProto &model, Recovery &recovery) {
  llvm::StringSet<> read, passed;
  NamesRead(model).add(model.graph().node(), read);
  for (const onnx::NodeProto &node : model.graph().node())
    passed.insert(node.input().begin(), node.input().end());
  for (const onnx::TensorProto &tensor : model.graph().initializer())
    if (passed.contains(tensor.name()) && !read.contains(tensor.name()))
      recovery.damage.add(Loss::Folded, tensor.name());
}

Recovery accc::onnx_import::recoverExport(onnx::ModelProto &model, TensorReader &tensors) {
  Recovery recovery;
  Evidence evidence(model);
  recovery.keepsNames = evidence.isTorchExport() || evidence.isTorchScript();
  if (evidence.isTorchExport())
    recoverTorchExport(model, evidence, recovery, tensors);
  else if (evidence.isTorchScript())
    recoverTorchScript(model, recovery, tensors);
  else if (evidence.isTensorFlow())
    recoverTensorFlow(model, recovery, tensors);
  else if (evidence.exporter() == Exporter::TorchExport)
    findFoldedArguments(model, recovery);
  findOptimizers(model, recovery);
  findMergedParameters(model, evidence, recovery);
  findFoldedConvolutions(model.graph(), recovery);
  return recovery;
}
