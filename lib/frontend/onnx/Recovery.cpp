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
  findOptimizers(model, recovery);
  findFoldedConvolutions(model.graph(), recovery);
  return recovery;
}
