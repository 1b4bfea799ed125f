// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files of tf2onnx, which Keras writes ONNX with, too. TensorFlow's graph was frozen before: its
// variables are constants, told from others by their names alone, and what could be computed from
// them was computed.
#include "frontend/onnx/Initializers.h"
#include "frontend/onnx/ModelEditor.h"
#include "frontend/onnx/RecoverRecurrent.h"
#include "frontend/onnx/Recovery.h"
#include "frontend/onnx/TensorFlowName.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <set>

using namespace accc::onnx_import;
using accc::frontend::Proof;

namespace {

/// Whether one of the scopes is the other or lies within it.
bool isOneLayer(llvm::StringRef a, llvm::StringRef b) {
  if (a.size() < b.size())
    std::swap(a, b);
  return a.consume_front(b) && (a.empty() || a.starts_with("/"));
}

class TensorFlowRecovery {
public:
  TensorFlowRecovery(onnx::ModelProto &model, Recovery &recovery, TensorReader &tensors)
      : graph(*model.mutable_graph()), recovery(recovery), editor(model, tensors) {}

  void run() {
    for (onnx::NodeProto &node : *graph.mutable_node())
      if (isRecurrent(node))
        recoverLayer(node);
    readGraph(graph);
    for (const onnx::TensorProto *tensor : initializers)
      classify(*tensor);
    findMerged();
    findParameters(graph);
    findDropped();
    tellOfBatchNorms();
  }

private:
  void readGraph(const onnx::GraphProto &from);
  void recoverLayer(onnx::NodeProto &node);
  void classify(const onnx::TensorProto &tensor);
  void classifyComputed(const std::string &tensor, const TensorFlowName &name);
  bool isConstantToReaders(const onnx::TensorProto &tensor);
  bool isBias(const onnx::TensorProto &tensor);
  void findMerged();
  void findParameters(const onnx::GraphProto &from);
  void findDropped();
  bool isProduct(const onnx::NodeProto &node) const;
  bool addsParameter(const onnx::NodeProto &node) const;
  bool hasBias(const onnx::NodeProto &product) const;
  void tellOfBatchNorms();

  static bool isZero(llvm::ArrayRef<char> bytes) {
    return llvm::all_of(bytes, [](char byte) { return byte == 0; });
  }

  onnx::GraphProto &graph;
  Recovery &recovery;
  ModelEditor editor;
  std::vector<const onnx::TensorProto *> initializers;
  std::set<std::string> biases, merged;       // of recurrent layers; what several layers read
  std::vector<const onnx::NodeProto *> nodes; // of all graphs
  llvm::StringMap<llvm::SmallVector<const onnx::NodeProto *, 2>> readers;
  /// Variables, also as bodies of loops call them, and what is computed of them alone.
  llvm::StringSet<> parameters;
};

void TensorFlowRecovery::readGraph(const onnx::GraphProto &from) {
  for (const onnx::TensorProto &tensor : from.initializer())
    initializers.push_back(&tensor);
  for (const onnx::NodeProto &node : from.node()) {
    for (const std::string &input : node.input())
      readers[input].push_back(&node);
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        readGraph(attribute.g());
  }
}

/// TensorFlow's layers have one bias where ONNX has two, of which tf2onnx makes the second zero,
/// but for a GRU that resets after the product; and they start from zeros.
void TensorFlowRecovery::recoverLayer(onnx::NodeProto &node) {
  constexpr int kBiases = 3;
  for (int state : {5, 6})
    if (state < node.input_size())
      if (const onnx::TensorProto *tensor = editor.findFloat(node.input(state)))
        if (!TensorFlowName(tensor->name()).isVariable() && isZero(editor.bytesOf(*tensor)))
          recovery.constants.insert(tensor->name());
  bool hasTwo = llvm::any_of(node.attribute(), [](const onnx::AttributeProto &attribute) {
    return attribute.name() == "linear_before_reset" && attribute.i() != 0;
  });
  int directions = recurrentDirections(node, editor);
  const onnx::TensorProto *both =
      node.input_size() > kBiases ? editor.findFloat(node.input(kBiases)) : nullptr;
  if (hasTwo || !directions || !both || !TensorFlowName(both->name()).isOfConverter())
    return;
  llvm::ArrayRef<char> bytes = editor.bytesOf(*both);
  size_t half = bytes.size() / directions / 2;
  std::string first;
  for (int d = 0; d < directions; ++d) {
    llvm::ArrayRef<char> own = bytes.slice(2 * d * half, 2 * half);
    if (!isZero(own.drop_front(half)))
      return;
    first.append(own.data(), half);
  }
  if (!biases.insert(both->name()).second)
    merged.insert(both->name());
  llvm::SmallVector<int64_t> dims = {directions, both->dims(1) / 2};
  std::string name = both->name() + "/bias", zeros = both->name() + "/zeros";
  editor.addInitializer(zeros, *both, dims, std::string(first.size(), '\0'));
  editor.addInitializer(name, *both, dims, std::move(first));
  recovery.constants.insert(zeros);
  recovery.proofs[name] = Proof::Known;
  recovery.add(name, "written as '" + both->name() + "', beside zeros", "the operator");
  node.set_input(kBiases, editor.concatenate({name, zeros}, 1));
}

/// Whether every node that reads the tensor takes a constant there: the epsilon of a batch norm,
/// the condition of a select as factors of 0 and 1, or what is compared, and has no gradient.
bool TensorFlowRecovery::isConstantToReaders(const onnx::TensorProto &tensor) {
  auto isConstant = [&](const onnx::NodeProto *reader) {
    TensorFlowName name(reader->name());
    llvm::StringRef op = reader->op_type();
    if (name.isConstant()) // zeros, in the shape of a batch
      return true;
    if (op == "Add" && name.isOfBatchNorm() && name.op() == "add")
      return editor.bytesOf(tensor).size() == editor.elementSize(tensor);
    if (op == "Mul" && name.isOfConverter() && name.op() == "SelectV2")
      return isIndicator(editor.weightOf(tensor));
    return op == "Less" || op == "LessOrEqual" || op == "Greater" || op == "GreaterOrEqual" ||
           op == "Equal";
  };
  auto found = readers.find(tensor.name());
  return found != readers.end() && llvm::all_of(found->second, isConstant);
}

/// Whether every node that reads the tensor adds it as a bias.
bool TensorFlowRecovery::isBias(const onnx::TensorProto &tensor) {
  auto found = readers.find(tensor.name());
  return found != readers.end() && llvm::all_of(found->second, [](const onnx::NodeProto *reader) {
           return reader->op_type() == "Add" && TensorFlowName(reader->name()).op() == "BiasAdd";
         });
}

/// What TensorFlow or tf2onnx computed of constants and variables. Where damage is accepted, what
/// the file holds of a batch norm is trained.
void TensorFlowRecovery::classifyComputed(const std::string &tensor, const TensorFlowName &name) {
  recovery.proofs[tensor] = Proof::Known;
  if (name.isFoldedConvolution()) {
    recovery.damage.add(Loss::FoldedConvolution, name.scope());
  } else if (name.isOfBatchNorm()) {
    recovery.damage.add(Loss::FoldedBatchNorm, name.scope());
  } else {
    recovery.proofs[tensor] = Proof::MadeUp;
    recovery.unclear[tensor] = "computed of other values before the export";
  }
}

void TensorFlowRecovery::classify(const onnx::TensorProto &tensor) {
  TensorFlowName name(tensor.name());
  bool isFloat = editor.isFloat(tensor), isBool = tensor.data_type() == onnx::TensorProto::BOOL;
  bool isOne = llvm::all_of(tensor.dims(), [](int64_t extent) { return extent == 1; });
  if (name.isDrawn() && !isOne && (isFloat || isBool)) {
    recovery.damage.add(Loss::Drawn, name.scope());
    recovery.constants.insert(tensor.name());
  }
  if (!isFloat || recovery.constants.contains(tensor.name()) ||
      recovery.proofs.contains(tensor.name()))
    return;
  bool isFold = name.op().ends_with("const_fold_opt");
  if (name.isVariable())
    recovery.proofs[tensor.name()] = Proof::Known;
  else if (name.isConstant() || (name.isOfConverter() && isOne && !isFold) ||
           isConstantToReaders(tensor))
    recovery.constants.insert(tensor.name());
  else if (name.isRearranged())
    recovery.proofs[tensor.name()] = isOne ? Proof::Named : Proof::Known;
  else if (name.isOfConverter())
    recovery.proofs[tensor.name()] = isBias(tensor) ? Proof::Known : Proof::MadeUp;
  else
    classifyComputed(tensor.name(), name);
}

/// tf2onnx makes one initialiser of equal ones: a variable of several layers may be several
/// variables, as that of the scales of all normalisations before they are trained.
void TensorFlowRecovery::findMerged() {
  for (const auto &[name, proof] : recovery.proofs) {
    auto found = readers.find(name);
    if (found == readers.end())
      continue;
    std::string first = TensorFlowName(found->second.front()->name()).scope();
    for (const onnx::NodeProto *reader : found->second) {
      std::string scope = TensorFlowName(reader->name()).scope();
      if (!isOneLayer(scope, first))
        merged.insert(name.str());
    }
  }
  for (const std::string &name : merged)
    recovery.damage.add(Loss::Merged, name);
}

void TensorFlowRecovery::findParameters(const onnx::GraphProto &from) {
  llvm::StringSet<> constants;
  for (const onnx::TensorProto &tensor : from.initializer())
    if (recovery.proofs.contains(tensor.name()))
      parameters.insert(tensor.name());
    else
      constants.insert(tensor.name());
  auto isParameter = [&](const std::string &name) { return parameters.contains(name); };
  auto isKnown = [&](const std::string &name) {
    return name.empty() || isParameter(name) || constants.contains(name);
  };
  for (const onnx::NodeProto &node : from.node()) {
    nodes.push_back(&node);
    if (llvm::all_of(node.input(), isKnown) && llvm::any_of(node.input(), isParameter))
      parameters.insert(node.output().begin(), node.output().end());
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (!attribute.has_g())
        continue;
      for (int i = 0; i < std::min(node.input_size(), attribute.g().input_size()); ++i)
        if (isParameter(node.input(i)))
          parameters.insert(attribute.g().input(i).name());
      findParameters(attribute.g());
    }
  }
}

/// A product with a variable, or a convolution.
bool TensorFlowRecovery::isProduct(const onnx::NodeProto &node) const {
  return (node.op_type() == "MatMul" || node.op_type() == "Gemm" || node.op_type() == "Conv" ||
          node.op_type() == "ConvTranspose") &&
         node.input_size() > 1 && parameters.contains(node.input(1)) &&
         !parameters.contains(node.output(0));
}

/// Whether the node adds a parameter to a value, as a bias or the shift of a normalisation.
bool TensorFlowRecovery::addsParameter(const onnx::NodeProto &node) const {
  auto isParameter = [&](const std::string &name) { return parameters.contains(name); };
  if (node.op_type() == "Add" || node.op_type() == "Sub")
    return llvm::any_of(node.input(), isParameter);
  bool hasBiasInput = isProduct(node) || node.op_type() == "BatchNormalization";
  return hasBiasInput && node.input_size() > 2 && isParameter(node.input(2));
}

/// Whether anything adds a parameter between a product and those of the next layers.
bool TensorFlowRecovery::hasBias(const onnx::NodeProto &product) const {
  llvm::SetVector<const onnx::NodeProto *> reached;
  reached.insert(&product);
  std::string layer = TensorFlowName(product.name()).scope();
  for (size_t i = 0; i < reached.size(); ++i) {
    const onnx::NodeProto *node = reached[i];
    if (isProduct(*node) && !isOneLayer(TensorFlowName(node->name()).scope(), layer))
      continue;
    if (addsParameter(*node))
      return true;
    for (const std::string &output : node->output())
      if (auto found = readers.find(output); found != readers.end())
        reached.insert(found->second.begin(), found->second.end());
  }
  return false;
}

/// TensorFlow drops a bias of zeros, which every layer of Keras starts with, when it optimizes the
/// graph for the export: a layer without one may have had one.
void TensorFlowRecovery::findDropped() {
  std::map<std::string, bool> layers; // a recurrent one has several products
  for (const onnx::NodeProto *node : nodes)
    if (isProduct(*node))
      layers[TensorFlowName(node->name()).scope()] |= hasBias(*node);
  for (const auto &[layer, isBiased] : layers)
    if (!isBiased)
      recovery.damage.add(Loss::DroppedBias, layer);
}

/// A batch norm in training mode is written as arithmetic on the batch, without its statistics.
void TensorFlowRecovery::tellOfBatchNorms() {
  std::set<std::string> norms, ofBatch;
  for (const onnx::NodeProto &node : graph.node()) {
    TensorFlowName name(node.name());
    if (name.isOfBatchNorm())
      norms.insert(name.scope());
    if (name.isOfMoments())
      ofBatch.insert(name.scope());
  }
  for (const std::string &scope : norms)
    if (ofBatch.contains(scope)) {
      recovery.warnings.push_back("the batch norm '" + scope +
                                  "' was exported without its running statistics: evaluation, too, "
                                  "uses those of the batch");
      return;
    }
}

} // namespace

void accc::onnx_import::recoverTensorFlow(onnx::ModelProto &model, Recovery &recovery,
                                          TensorReader &tensors) {
  TensorFlowRecovery(model, recovery, tensors).run();
}
