// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files of the TorchScript exporter. Nodes are named after the path of their module
// ("/encoder/layer.0/fc/MatMul"); what constant folding made is an initialiser without a name of
// its own ("onnx::MatMul_57"); and an Identity stands for each initialiser that was taken for
// another of equal memory, or in evaluation mode of equal value.
#include "frontend/onnx/Initializers.h"
#include "frontend/onnx/ModelEditor.h"
#include "frontend/onnx/RecoverRecurrent.h"
#include "frontend/onnx/Recovery.h"

using namespace accc::onnx_import;

namespace {

constexpr const char kPath[] = "node path", kIdentity[] = "Identity node";

/// Also where an optimizer folded constants after the export: such a value keeps the name of the
/// node's result ("/fc/Transpose_output_0"), or has one of the optimizer's.
bool isAnonymous(llvm::StringRef name) {
  return name.starts_with("onnx::") || name.starts_with("/") || isOfOptimizer(name);
}

/// The result of a Constant or ConstantOfShape that an optimizer made an initialiser of.
bool isConstantNode(llvm::StringRef name) {
  return name.starts_with("/") && name.rsplit('/').second.starts_with("Constant");
}

/// x w, or x w + b.
bool isProduct(const onnx::NodeProto &node) {
  if (node.op_type() == "MatMul")
    return node.input_size() == 2;
  return node.op_type() == "Gemm" && node.input_size() > 1 &&
         llvm::none_of(node.attribute(), [](const onnx::AttributeProto &attribute) {
           return attribute.name() == "transB" && attribute.i() != 0;
         });
}

class TorchScriptRecovery {
public:
  TorchScriptRecovery(onnx::ModelProto &model, Recovery &recovery, TensorReader &tensors)
      : graph(*model.mutable_graph()), recovery(recovery), editor(model, tensors) {}
  void run();

private:
  void readIdentities();
  void splitIdentities();
  const onnx::TensorProto *source(const std::string &name) const;
  bool isUniform(const onnx::TensorProto &tensor);
  /// Whether two initialisers of one shape are equal: in evaluation mode none are left.
  bool keepsEqualValues();
  /// Whether an initialiser has a name of a part of this module, and of none of `except`.
  bool knowsNamesWithin(llvm::StringRef module, llvm::StringRef except = "/") const;
  std::optional<std::string> moduleName(const onnx::NodeProto &node) const;
  std::string weightOf(const onnx::NodeProto &product) const;
  void recoverProduct(onnx::NodeProto &node);
  void recoverLayer(onnx::NodeProto &node);
  void recoverPerChannel(onnx::NodeProto &node, int input);
  void findTies();
  void findLosses();

  onnx::GraphProto &graph;
  Recovery &recovery;
  ModelEditor editor;
  llvm::StringMap<std::string> identities; // what stands for what
  llvm::StringMap<llvm::SmallVector<const onnx::NodeProto *, 2>> readers;
  llvm::StringMap<int> nodesOfPath;
  llvm::StringSet<> lost;
  bool isEvaluation = false;
  bool byMemory = false; // whether Identity nodes stand for tied parameters, and nothing else
  /// Recovered weights, by name: the initialiser that each was written as; and the other way.
  std::map<std::string, std::string> transposed, weights;
  std::map<std::string, int> layers;            // of each recurrent module, so far
  std::map<std::string, std::string> recurrent; // by hash of the weights
};

const onnx::TensorProto *TorchScriptRecovery::source(const std::string &name) const {
  auto found = identities.find(name);
  return editor.findFloat(found == identities.end() ? name : found->second);
}

bool TorchScriptRecovery::isUniform(const onnx::TensorProto &tensor) {
  llvm::ArrayRef<char> bytes = editor.bytesOf(tensor);
  size_t width = editor.elementSize(tensor);
  for (size_t i = width; i + width <= bytes.size(); i += width)
    if (bytes.slice(i, width) != bytes.take_front(width))
      return false;
  return true;
}

bool TorchScriptRecovery::keepsEqualValues() {
  std::set<std::pair<std::vector<int64_t>, llvm::StringRef>> seen;
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    if (!editor.findFloat(tensor.name()))
      continue;
    llvm::ArrayRef<char> bytes = editor.bytesOf(tensor);
    std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
    if (!seen.insert({dims, llvm::StringRef(bytes.data(), bytes.size())}).second)
      return true;
  }
  return false;
}

void TorchScriptRecovery::readIdentities() {
  for (const onnx::NodeProto &node : graph.node()) {
    bool one = node.op_type() == "Identity" && node.input_size() == 1 && node.output_size() == 1;
    if (one && source(node.input(0)))
      identities[node.output(0)] = source(node.input(0))->name();
    for (const std::string &input : node.input())
      readers[input].push_back(&node);
    ++nodesOfPath[llvm::StringRef(node.name()).rsplit('/').first];
  }
}

/// Gives each name of equal values a variable of its own, unless the module may tie them.
void TorchScriptRecovery::splitIdentities() {
  if (identities.empty())
    return;
  byMemory = keepsEqualValues();
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    if (node.op_type() != "Identity" || node.output_size() != 1)
      continue;
    auto found = identities.find(node.output(0));
    if (found == identities.end() || isAnonymous(node.output(0)))
      continue;
    const std::string name = node.output(0), from = found->second;
    if (byMemory) {
      recovery.addAlias(from, name);
      recovery.add(name, "tied to '" + from + "'", kIdentity);
    } else if (isUniform(*editor.find(from))) {
      recovery.add(name, "written as '" + from + "', of equal value", kIdentity);
      editor.addCopy(name, *editor.find(from));
      node.set_output(0, name + "/merged"); // the initialiser takes its name
      isEvaluation = true;
    } else {
      recovery.damage.add(Loss::Merged, name);
    }
  }
}

bool TorchScriptRecovery::knowsNamesWithin(llvm::StringRef module, llvm::StringRef except) const {
  return llvm::any_of(graph.initializer(), [&](const onnx::TensorProto &tensor) {
    return !isAnonymous(tensor.name()) && !module.empty() && isWithin(tensor.name(), module) &&
           !isWithin(tensor.name(), except);
  });
}

/// The module that a node is named after, where there are no two ways to read the path.
std::optional<std::string> TorchScriptRecovery::moduleName(const onnx::NodeProto &node) const {
  llvm::SmallVector<llvm::StringRef> path = pathOf(node);
  std::string joined = moduleOf(path, true), plain = moduleOf(path, false);
  if (path.empty())
    return std::nullopt;
  if (joined == plain)
    return joined;
  // "a/a.0" is member 0 of the list a, or of a list a inside the module a.
  llvm::ArrayRef<llvm::StringRef> outer = path;
  for (; !outer.empty(); outer = outer.drop_back()) {
    std::string outerJoined = moduleOf(outer, true), outerPlain = moduleOf(outer, false);
    if (outerJoined == outerPlain)
      break;
    llvm::StringRef list = ownerOf(outerJoined), inner = ownerOf(outerPlain);
    bool isJoined = knowsNamesWithin(list, inner), isPlain = knowsNamesWithin(inner);
    if (isJoined != isPlain)
      return isJoined ? joined : plain;
  }
  return std::nullopt;
}

/// The name of the weight of a product: beside its bias, which has a name; or of a module that has
/// no other nodes.
std::string TorchScriptRecovery::weightOf(const onnx::NodeProto &product) const {
  if (product.input_size() == 3) // an optimizer joined it with its bias
    if (llvm::StringRef stem(product.input(2));
        source(product.input(2)) && !isAnonymous(stem) && stem.consume_back("bias"))
      return stem.str() + "weight";
  auto readersOf = readers.find(product.output(0));
  if (readersOf != readers.end() && readersOf->second.size() == 1) {
    const onnx::NodeProto &next = *readersOf->second.front();
    if (next.op_type() == "Add" && pathOf(next) == pathOf(product))
      for (const std::string &input : next.input()) {
        llvm::StringRef stem(input);
        if (source(input) && !isAnonymous(input) && stem.consume_back("bias"))
          return stem.str() + "weight";
      }
  }
  std::optional<std::string> module = moduleName(product);
  if (!module)
    return "";
  auto nodes = nodesOfPath.find(llvm::StringRef(product.name()).rsplit('/').first);
  bool isAlone = nodes != nodesOfPath.end() && nodes->second == 1;
  return isAlone ? *module + ".weight" : "";
}

void TorchScriptRecovery::recoverProduct(onnx::NodeProto &node) {
  const std::string read = node.input(1);
  const onnx::TensorProto *tensor = source(read);
  if (!tensor || !isAnonymous(read) || tensor->dims_size() != 2)
    return;
  std::string name = weightOf(node);
  if (name.empty())
    return; // findLosses() counts it
  auto [first, isFirst] = weights.try_emplace(tensor->name(), name);
  if (first->second != name) {
    if (!byMemory && !isOneModule(first->second, name) && !isUniform(*tensor)) {
      recovery.damage.add(Loss::Merged, name);
      lost.insert(read);
      return;
    }
    if (byMemory && !isOneModule(first->second, name))
      recovery.addAlias(first->second, name);
    if (byMemory || isOneModule(first->second, name))
      name = first->second;
  }
  auto [before, isNew] = transposed.try_emplace(name, tensor->name());
  const onnx::TensorProto *named = isNew ? editor.find(name) : nullptr;
  if (before->second != tensor->name() &&
      editor.bytesOf(*editor.find(before->second)) != editor.bytesOf(*tensor)) {
    recovery.damage.add(Loss::Folded, name);
    return;
  }
  if (named) { // also read as it is
    llvm::ArrayRef<char> bytes = editor.bytesOf(*named);
    if (editor.transposed(*tensor) != llvm::StringRef(bytes.data(), bytes.size())) {
      recovery.damage.add(Loss::Folded, name);
      return;
    }
  }
  recovery.add(name, "written as '" + read + "', transposed", kPath);
  node.set_input(1, editor.addTransposed(name, *tensor));
}

void TorchScriptRecovery::recoverLayer(onnx::NodeProto &node) {
  for (int state : {5, 6}) // zeros, where the module is not given another
    if (state < node.input_size())
      if (const onnx::TensorProto *tensor = source(node.input(state)))
        if (isAnonymous(tensor->name()) &&
            llvm::all_of(editor.bytesOf(*tensor), [](char byte) { return byte == 0; }))
          recovery.constants.insert(tensor->name());
  if (node.input_size() < 2 || !isAnonymous(node.input(1)))
    return;
  std::optional<std::string> module = moduleName(node);
  for (int i = 1; i < std::min(node.input_size(), 4); ++i)
    if (auto merged = identities.find(node.input(i)); merged != identities.end())
      node.set_input(i, merged->second);
  int directions = recurrentDirections(node, editor);
  if (!module || !directions)
    return;
  llvm::ArrayRef<char> bytes = editor.bytesOf(*editor.find(node.input(1)));
  auto [equal, isNew] = recurrent.try_emplace(std::string(bytes.data(), bytes.size()), *module);
  int layer = layers[*module]++;
  auto names = recurrentNames(*module, layer, directions);
  if (!isNew) { // one module called twice, or a copy
    recovery.damage.add(Loss::Merged, names.front().front());
    lost.insert(node.input(1));
    return;
  }
  recoverRecurrent(node, editor, names);
  for (const auto &direction : names)
    for (const std::string &name : direction)
      if (editor.find(name))
        recovery.add(name, "written in the order and layout of " + node.op_type(), kPath);
}

/// A group norm multiplies and adds along channels what an instance norm of the same module gives.
void TorchScriptRecovery::recoverPerChannel(onnx::NodeProto &node, int input) {
  const std::string read = node.input(input);
  const onnx::TensorProto *tensor = source(read);
  if (!tensor || !isAnonymous(read) || tensor->dims_size() < 2 ||
      !std::all_of(tensor->dims().begin() + 1, tensor->dims().end(),
                   [](int64_t extent) { return extent == 1; }))
    return;
  std::optional<std::string> module = moduleName(node);
  llvm::SmallVector<llvm::StringRef> path = pathOf(node);
  bool isNorm = llvm::any_of(graph.node(), [&](const onnx::NodeProto &each) {
    return each.op_type() == "InstanceNormalization" && pathOf(each) == path;
  });
  if (!module || !isNorm)
    return;
  std::string name = *module + (node.op_type() == "Mul" ? ".weight" : ".bias");
  recovery.add(name, "written as '" + read + "', reshaped", kPath);
  node.set_input(input, editor.addReshaped(name, *tensor, {tensor->dims(0)}));
}

/// A weight that is also read transposed, by another name: the folding of constants unties them.
void TorchScriptRecovery::findTies() {
  for (const auto &[name, written] : transposed) {
    const onnx::TensorProto &weight = *editor.find(name);
    llvm::ArrayRef<char> bytes = editor.bytesOf(weight);
    for (const onnx::TensorProto &other : graph.initializer()) {
      bool equal = other.name() != name && !transposed.contains(other.name()) &&
                   !isAnonymous(other.name()) && editor.findFloat(other.name()) &&
                   other.dims_size() == 2 && other.dims(0) == weight.dims(0) &&
                   other.dims(1) == weight.dims(1) && editor.bytesOf(other) == bytes;
      if (equal && !isUniform(weight))
        recovery.damage.add(Loss::Merged, name);
    }
  }
}

/// What reads a folded initialiser still, reads what no parameter is left of.
void TorchScriptRecovery::findLosses() {
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &input : node.input()) {
      const onnx::TensorProto *tensor = source(input);
      if (!tensor || !isAnonymous(input) || node.op_type() == "Identity" ||
          editor.bytesOf(*tensor).size() <= editor.elementSize(*tensor) ||
          recovery.constants.contains(tensor->name()) || isMask(editor.weightOf(*tensor)))
        continue;
      if (llvm::StringRef(node.op_type()).starts_with("Conv"))
        recovery.damage.add(Loss::FoldedConvolution, moduleName(node).value_or(node.name()));
      else if (!lost.contains(input))
        recovery.damage.add(Loss::Folded, input);
    }
}

void TorchScriptRecovery::run() {
  readIdentities();
  splitIdentities();
  for (const onnx::TensorProto &tensor : graph.initializer())
    if (isConstantNode(tensor.name()) && ModelEditor::isFloat(tensor))
      recovery.constants.insert(tensor.name());
  for (int i = 0, nodes = graph.node_size(); i < nodes; ++i) {
    onnx::NodeProto &node = *graph.mutable_node(i);
    if (isProduct(node))
      recoverProduct(node);
    else if (isRecurrent(node))
      recoverLayer(node);
    else if (node.op_type() == "Mul" || node.op_type() == "Add")
      for (int input = 0; input < node.input_size(); ++input)
        recoverPerChannel(node, input);
  }
  findTies();
  findLosses();
  if (isEvaluation)
    recovery.warnings.push_back("the model was exported in evaluation mode: where its module has "
                                "dropout, the file does not hold it, and it is not trained with");
}

} // namespace

void accc::onnx_import::recoverTorchScript(onnx::ModelProto &model, Recovery &recovery,
                                           TensorReader &tensors) {
  TorchScriptRecovery(model, recovery, tensors).run();
}
