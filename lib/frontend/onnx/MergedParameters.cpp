// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters that an optimizer for inference merged since they were equal, as the scales and
// offsets of fresh normalisations are: onnxoptimizer leaves no other trace of itself.
#include "frontend/onnx/Recovery.h"
#include "frontend/onnx/Tensors.h"

using namespace accc::onnx_import;

namespace {

class MergedParameters {
public:
  MergedParameters(const onnx::ModelProto &model, Recovery &recovery) : recovery(recovery) {
    for (const onnx::TensorProto &tensor : model.graph().initializer())
      initializers.insert(tensor.name());
  }

  /// A parameter that is a statistic as well is none that a module has.
  void checkStatistics(const onnx::NodeProto &node) {
    if (node.op_type() != "BatchNormalization" || node.input_size() < 5)
      return;
    for (const std::string &parameter : {node.input(1), node.input(2)})
      if (parameter == node.input(3) || parameter == node.input(4))
        add(parameter);
  }

  /// PyTorch gives a normalisation the weight and the bias of one module, and a tied one to another
  /// module by an Identity.
  void checkModules(const onnx::NodeProto &node, bool hasPaths) {
    constexpr const char *kNorms[] = {"BatchNormalization", "LayerNormalization",
                                      "GroupNormalization", "InstanceNormalization"};
    if (!llvm::is_contained(kNorms, node.op_type()) || node.input_size() < 3 ||
        !isNamed(node.input(1)) || !isNamed(node.input(2)))
      return;
    if (ownerOf(node.input(1)) != ownerOf(node.input(2)))
      add(node.input(2));
    auto [before, isFirst] = readers.try_emplace(node.input(1), &node);
    if (isFirst)
      return;
    bool isOne = hasPaths &&
                 isOneModule(moduleOf(pathOf(*before->second), true), moduleOf(pathOf(node), true));
    if (!isOne)
      add(node.input(1));
  }

private:
  bool isNamed(const std::string &name) const {
    return initializers.contains(name) && !ownerOf(name).empty();
  }

  void add(const std::string &name) {
    if (initializers.contains(name))
      recovery.damage.add(Loss::Merged, name);
  }

  Recovery &recovery;
  llvm::StringSet<> initializers;
  llvm::StringMap<const onnx::NodeProto *> readers; // the first, by the name of the scale
};

} // namespace

void accc::onnx_import::findMergedParameters(const onnx::ModelProto &model,
                                             const Evidence &evidence, Recovery &recovery) {
  MergedParameters merged(model, recovery);
  bool isOfPyTorch = evidence.isTorchScript() || evidence.exporter() == Exporter::TorchExport;
  for (const onnx::NodeProto &node : model.graph().node()) {
    merged.checkStatistics(node);
    if (isOfPyTorch && !evidence.isTorchExport())
      merged.checkModules(node, evidence.isTorchScript());
  }
}
