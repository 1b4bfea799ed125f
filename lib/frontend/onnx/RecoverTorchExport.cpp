// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files of the exporter that goes by torch.export, which onnxscript's optimizer went over. The
// signature names every parameter and buffer, each node its module, and each folded initialiser
// what it was computed from.
#include "frontend/onnx/Initializers.h"
#include "frontend/onnx/ModelEditor.h"
#include "frontend/onnx/RecoverRecurrent.h"
#include "frontend/onnx/Recovery.h"
#include "frontend/onnx/TorchCall.h"

#include <algorithm>

using namespace accc::onnx_import;

namespace {

constexpr const char kFolded[] = "folded_from", kScope[] = "name_scopes", kRuleName[] = "rule_name",
                     kCall[] = "fx_node";

/// The last part of the name of the parameter that a node reads at this input, if its operator
/// says so.
llvm::StringRef leafRead(const onnx::NodeProto &node, int input, llvm::StringRef call) {
  llvm::StringRef op = node.op_type();
  bool isNorm = op.ends_with("Normalization"), isProduct = op.starts_with("Conv") || op == "Gemm";
  if ((isNorm || isProduct) && (input == 1 || input == 2))
    return input == 1 ? "weight" : "bias";
  if ((op == "MatMul" && input == 1) || (op == "Gather" && input == 0) || op == "Transpose")
    return "weight";
  return op == "Add" && call.starts_with("linear") ? "bias" : "";
}

/// The number of parts that two dotted names share at their ends.
size_t commonEnd(llvm::StringRef a, llvm::StringRef b) {
  size_t count = 0;
  for (; !a.empty() && !b.empty() && leafOf(a) == leafOf(b); ++count) {
    a = ownerOf(a);
    b = ownerOf(b);
  }
  return count;
}

/// [C, 1, 1]
bool isPerChannel(const onnx::TensorProto &tensor) {
  return tensor.dims_size() > 0 && std::all_of(tensor.dims().begin() + 1, tensor.dims().end(),
                                               [](int64_t extent) { return extent == 1; });
}

class TorchExportRecovery {
public:
  TorchExportRecovery(onnx::ModelProto &model, const Evidence &evidence, Recovery &recovery,
                      TensorReader &tensors)
      : graph(*model.mutable_graph()), evidence(evidence), recovery(recovery),
        editor(model, tensors) {}
  void run();

private:
  /// How a node reads the initialiser: which parameter it was, and what was done to it.
  enum class Form { Same, Transposed, PerChannel, Unknown };
  struct Origin {
    std::string parameter; // empty: none; the initialiser is a constant
    Form form = Form::Same;
    bool isNamed = false; // by the node's call
  };

  static const char *evidenceOf(const Origin &origin) { return origin.isNamed ? kCall : kFolded; }

  void account();
  Origin originOf(const onnx::NodeProto &node, int input, llvm::StringRef call) const;
  Origin originInCall(const onnx::NodeProto &node, int input) const;
  std::vector<std::string> parametersIn(llvm::StringRef initializer) const;
  bool mayHoldParameters(const onnx::TensorProto &tensor);
  void recoverInput(onnx::NodeProto &node, int input, const Evidence::Scope &scope);
  /// The parameter of this module that stands for `origin`, which is another's.
  std::string ownParameter(const onnx::NodeProto &node, int input, const Evidence::Scope &scope,
                           const std::string &origin) const;
  /// The exporter writes tied parameters under the last of their names, and the optimizer those of
  /// equal value under the first; of folded values under that of the node that comes first.
  enum class Sharing { Tied, Merged, Unclear };
  Sharing sharingOf(llvm::StringRef own, llvm::StringRef origin, Form form) const;
  void recoverLayer(onnx::NodeProto &node);
  void recoverZeroBias(onnx::NodeProto &node, const std::string &weight);
  bool hasFoldedBatchNorm(const onnx::NodeProto &node, const Evidence::Scope &scope) const;
  void checkAllThere();
  void checkStops();
  void checkWrites();

  onnx::GraphProto &graph;
  const Evidence &evidence;
  Recovery &recovery;
  ModelEditor editor;
  llvm::StringSet<> accounted, kept, foldedNorms;
  /// The parameter that a module reads in place of another: by module, input's leaf, initialiser.
  std::map<std::tuple<std::string, std::string, std::string>, std::string> chosen;
  /// The module of the first node that reads what is folded from a parameter.
  llvm::StringMap<std::string> firstReader;
};

/// The parameters that are among what a value was folded from.
std::vector<std::string> TorchExportRecovery::parametersIn(llvm::StringRef initializer) const {
  std::vector<std::string> parameters;
  for (const std::string &name : evidence.foldedFrom(initializer))
    if (evidence.isParameter(name))
      parameters.push_back(name);
  return parameters;
}

/// What is in the file under its own name, or folded, needs no search.
void TorchExportRecovery::account() {
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    if (evidence.find(tensor.name())) {
      accounted.insert(tensor.name());
      continue;
    }
    std::vector<std::string> parameters = parametersIn(tensor.name());
    for (const std::string &name : parameters)
      accounted.insert(name);
    if (!evidence.tellsFolded())
      continue;                          // the nodes that read it may tell
    llvm::StringRef stem(tensor.name()); // of the bias that a folded batch norm gives
    if (parameters.empty() && !(stem.consume_back("_bias") && evidence.isParameter(stem)))
      recovery.constants.insert(tensor.name());
  }
  for (const onnx::NodeProto &node : graph.node()) {
    std::optional<Evidence::Scope> scope = Evidence::scopeOf(node);
    for (const std::string &input : node.input())
      for (const std::string &name : parametersIn(input))
        if (scope)
          firstReader.try_emplace(name, scope->module);
  }
}

TorchExportRecovery::Origin TorchExportRecovery::originOf(const onnx::NodeProto &node, int input,
                                                          llvm::StringRef call) const {
  const std::string &name = node.input(input);
  if (evidence.isParameter(name))
    return {name, Form::Same};
  std::vector<std::string> parameters = parametersIn(name);
  if (parameters.empty())
    return evidence.tellsFolded() ? Origin() : originInCall(node, input);
  const onnx::TensorProto &tensor = *editor.find(name);
  // With nothing else to fold with, one operator of one operand gave the value: in a call of
  // `linear`, and where the value bears the name of the call, that is known.
  bool alone = evidence.foldedFrom(name).size() == 1;
  llvm::StringRef own(name);
  bool named = own == "t" || own.starts_with("t_") || own.starts_with("transpose") ||
               own.starts_with("permute");
  bool linear = node.op_type() == "MatMul" && input == 1 && call.starts_with("linear");
  if (alone && tensor.dims_size() == 2 && (linear || named))
    return {parameters.front(), Form::Transposed};
  if (parameters.size() == 1 && isPerChannel(tensor) && call.starts_with("group_norm") &&
      (node.op_type() == "Mul" || node.op_type() == "Add"))
    return {parameters.front(), Form::PerChannel};
  return {parameters.front(), Form::Unknown};
}

/// What an initialiser of a file that does not tell what it was folded from is by the arguments of
/// the call: the weight of a linear layer, or a group norm's weight or bias.
TorchExportRecovery::Origin TorchExportRecovery::originInCall(const onnx::NodeProto &node,
                                                              int input) const {
  constexpr size_t kLinearWeight = 1, kNormWeight = 2, kNormBias = 3;
  const onnx::TensorProto &tensor = *editor.find(node.input(input));
  std::optional<TorchCall> call = torchCallOf(node);
  auto named = [&](size_t argument, Form form) -> Origin {
    if (argument >= call->arguments.size())
      return {};
    std::string name = evidence.stateOf(call->arguments[argument]);
    return evidence.isParameter(name) ? Origin{name, form, /*isNamed=*/true} : Origin();
  };
  llvm::StringRef op = node.op_type();
  if (call && call->target == "aten.linear" && op == "MatMul" && input == 1 &&
      tensor.dims_size() == 2)
    return named(kLinearWeight, Form::Transposed);
  if (call && call->target == "aten.group_norm" && (op == "Mul" || op == "Add") &&
      isPerChannel(tensor))
    return named(op == "Mul" ? kNormWeight : kNormBias, Form::PerChannel);
  return {};
}

/// Whether the initialiser of such a file may have been folded from parameters: masks and tensors
/// of one number were not.
bool TorchExportRecovery::mayHoldParameters(const onnx::TensorProto &tensor) {
  if (evidence.tellsFolded() || evidence.isOfModule(tensor.name()) || kept.contains(tensor.name()))
    return false;
  accc::Weight weight = editor.weightOf(tensor);
  return !isUniform(weight) && !isMask(weight);
}

std::string TorchExportRecovery::ownParameter(const onnx::NodeProto &node, int input,
                                              const Evidence::Scope &scope,
                                              const std::string &origin) const {
  llvm::StringRef leaf = leafRead(node, input, scope.call);
  if (!leaf.empty()) {
    std::string name = scope.module + "." + leaf.str();
    if (evidence.isParameter(name) && !accounted.contains(name))
      return name;
  }
  std::string best;
  size_t most = 0;
  bool single = true;
  for (const StateEntry &entry : evidence.signature()) {
    if (!entry.isParameter || accounted.contains(entry.name) ||
        !isWithin(entry.name, scope.module) ||
        (!leaf.empty() && !leafOf(entry.name).ends_with(leaf)))
      continue;
    size_t common = commonEnd(entry.name, origin);
    single &= best.empty() || common != most;
    if (best.empty() || common > most) {
      best = entry.name;
      most = common;
      single = true;
    }
  }
  return single ? best : "";
}

TorchExportRecovery::Sharing
TorchExportRecovery::sharingOf(llvm::StringRef own, llvm::StringRef origin, Form form) const {
  if (*evidence.find(origin) < *evidence.find(own))
    return Sharing::Merged;
  auto first = firstReader.find(origin);
  bool writtenFirst =
      form != Form::Same && first != firstReader.end() && isWithin(origin, first->second);
  return writtenFirst ? Sharing::Unclear : Sharing::Tied;
}

void TorchExportRecovery::recoverInput(onnx::NodeProto &node, int input,
                                       const Evidence::Scope &scope) {
  const std::string read = node.input(input);
  const onnx::TensorProto *tensor = editor.findFloat(read);
  if (!tensor || recovery.constants.contains(read))
    return;
  Origin origin = originOf(node, input, scope.call);
  if (origin.parameter.empty()) { // a buffer or a constant
    if (mayHoldParameters(*tensor))
      recovery.damage.add(Loss::Folded, read);
    return;
  }
  if (origin.form == Form::Unknown) {
    for (const std::string &name : parametersIn(read))
      recovery.damage.add(Loss::Folded, name);
    return;
  }

  std::string parameter = origin.parameter;
  if (origin.isNamed)
    accounted.insert(parameter);
  else if (!isWithin(parameter, scope.module)) {
    std::string &own = chosen[{scope.module, leafRead(node, input, scope.call).str(), read}];
    if (own.empty()) {
      own = ownParameter(node, input, scope, parameter);
      if (own.empty())
        own = parameter; // the module reads another's
      accounted.insert(own);
    }
    if (own != parameter)
      switch (sharingOf(own, parameter, origin.form)) {
      case Sharing::Tied:
        recovery.addAlias(parameter, own);
        recovery.add(own, "tied to '" + parameter + "'", kScope);
        break;
      case Sharing::Merged:
        recovery.add(own, "written as '" + read + "', of equal value", kScope);
        parameter = own;
        break;
      case Sharing::Unclear:
        recovery.damage.add(Loss::Merged, own);
        return;
      }
  }

  switch (origin.form) {
  case Form::Transposed:
    recovery.add(parameter, "written as '" + read + "', transposed", evidenceOf(origin));
    node.set_input(input, editor.addTransposed(parameter, *tensor));
    break;
  case Form::PerChannel:
    recovery.add(parameter, "written as '" + read + "', reshaped", evidenceOf(origin));
    node.set_input(input, editor.addReshaped(parameter, *tensor, {tensor->dims(0)}));
    break;
  default:
    if (parameter != read) {
      editor.addCopy(parameter, *tensor);
      node.set_input(input, parameter);
    }
  }
  kept.insert(parameter);
  if (input == 1 && llvm::StringRef(Evidence::ruleOf(node)).starts_with("RemoveOptionalBias"))
    recoverZeroBias(node, parameter);
}

/// A rule takes biases of zeros away.
void TorchExportRecovery::recoverZeroBias(onnx::NodeProto &node, const std::string &weight) {
  llvm::StringRef stem(weight);
  if (node.input_size() != 2 || !stem.consume_back("weight"))
    return;
  std::string name = stem.str() + "bias";
  if (!evidence.isParameter(name) || (accounted.contains(name) && !kept.contains(name)))
    return;
  const onnx::TensorProto &tensor = *editor.find(node.input(1));
  int64_t extent = tensor.dims(0);
  int64_t transposes = 0, groups = 1;
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.name() == "transB")
      transposes = attribute.i();
    if (attribute.name() == "group")
      groups = attribute.i();
  }
  if (node.op_type() == "Gemm" && !transposes)
    extent = tensor.dims(1);
  if (node.op_type() == "ConvTranspose")
    extent = tensor.dims(1) * groups;
  size_t bytes = static_cast<size_t>(extent) * editor.elementSize(tensor);
  editor.addInitializer(name, tensor, {extent}, std::string(bytes, '\0'));
  node.add_input(name);
  accounted.insert(name);
  kept.insert(name);
  recovery.add(name, "left out, of zeros", kRuleName);
}

void TorchExportRecovery::recoverLayer(onnx::NodeProto &node) {
  std::vector<std::string> parameters;
  for (int i = 1; i < std::min(node.input_size(), 4); ++i)
    llvm::append_range(parameters, parametersIn(node.input(i)));
  if (parameters.empty())
    return;
  // The layer's number, of "lstm.weight_ih_l0".
  std::optional<Evidence::Scope> scope = Evidence::scopeOf(node);
  llvm::StringRef number = llvm::StringRef(parameters.front()).rsplit("_l").second;
  int layer = 0, directions = recurrentDirections(node, editor);
  number.consume_back("_reverse");
  std::vector<std::array<std::string, 4>> names;
  if (scope && directions && !number.getAsInteger(10, layer))
    names = recurrentNames(ownerOf(parameters.front()), layer, directions);
  bool fits = !names.empty();
  for (const auto &direction : names)
    for (const std::string &name : direction) {
      bool isBias = leafOf(name).starts_with("bias");
      fits &= llvm::is_contained(parameters, name) || (isBias && !evidence.isParameter(name));
    }
  if (!fits) {
    for (const std::string &name : parameters)
      recovery.damage.add(Loss::Folded, name);
    return;
  }
  recoverRecurrent(node, editor, names);
  for (const std::string &name : parameters) {
    kept.insert(name);
    recovery.add(name, "written in the order and layout of " + node.op_type(), kFolded);
  }
}

void TorchExportRecovery::checkAllThere() {
  for (const StateEntry &entry : evidence.signature())
    if (entry.isParameter && !accounted.contains(entry.name) && evidence.isOptimized())
      recovery.damage.add(Loss::Missing, entry.name);
}

/// The optimizer removes detach(), which changes no value. The calls that read its result still
/// name it.
void TorchExportRecovery::checkStops() {
  llvm::StringSet<> there;
  for (const onnx::ValueInfoProto &input : graph.input())
    there.insert(input.name());
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &output : node.output())
      there.insert(output);
  for (const onnx::NodeProto &node : graph.node())
    if (std::optional<TorchCall> call = torchCallOf(node))
      for (llvm::StringRef argument : call->arguments)
        if (isNameOfDetached(argument) && !there.contains(argument.drop_front()))
          recovery.damage.add(Loss::DroppedStop, Evidence::placeOf(node));
}

/// The statistics of batch norms are written where these train; nothing else of the state is. Those
/// of instance norms the signature does not count among what is written.
void TorchExportRecovery::checkWrites() {
  llvm::StringSet<> statistics;
  for (const onnx::NodeProto &node : graph.node()) {
    if (node.op_type() == "BatchNormalization")
      for (const std::string &input : node.input())
        statistics.insert(input);
    if (std::optional<TorchCall> call = torchCallOf(node))
      for (const std::string &argument : movedStatistics(*call))
        if (std::string name = evidence.stateOf(argument); !name.empty())
          recovery.damage.add(Loss::DroppedWrite, name);
  }
  for (const std::string &name : evidence.written())
    if (!statistics.contains(name) && !foldedNorms.contains(ownerOf(name)) &&
        leafOf(name) != "num_batches_tracked")
      recovery.damage.add(Loss::DroppedWrite, name);
}

/// Another rule may have gone over the node since, but it is still in the norm's module.
bool TorchExportRecovery::hasFoldedBatchNorm(const onnx::NodeProto &node,
                                             const Evidence::Scope &scope) const {
  bool isProduct = llvm::StringRef(node.op_type()).starts_with("Conv") || node.op_type() == "Gemm";
  return llvm::StringRef(Evidence::ruleOf(node)).starts_with("FuseBatchNorm") ||
         (isProduct && (evidence.find(scope.module + ".running_mean") ||
                        llvm::StringRef(scope.call).contains("batch_norm")));
}

void TorchExportRecovery::run() {
  account();
  int nodes = graph.node_size();
  for (int i = 0; i < nodes; ++i) {
    onnx::NodeProto &node = *graph.mutable_node(i);
    std::optional<Evidence::Scope> scope = Evidence::scopeOf(node);
    if (!scope) {
      for (const std::string &input : node.input())
        if (const onnx::TensorProto *tensor = editor.findFloat(input);
            tensor && mayHoldParameters(*tensor))
          recovery.damage.add(Loss::Folded, input);
      continue;
    }
    if (hasFoldedBatchNorm(node, *scope)) {
      recovery.damage.add(Loss::FoldedBatchNorm, scope->module);
      foldedNorms.insert(scope->module);
      for (const StateEntry &entry : evidence.signature())
        if (isWithin(entry.name, scope->module))
          accounted.insert(entry.name);
      continue;
    }
    if (isRecurrent(node))
      recoverLayer(node);
    else
      for (int input = 0; input < node.input_size(); ++input)
        recoverInput(node, input, *scope);
    if (std::optional<TorchCall> call = torchCallOf(node); call && paddingOf(*call))
      recovery.add(node.input(0), "row " + llvm::Twine(*paddingOf(*call)) + " takes no gradient",
                   kCall);
  }
  if (!evidence.tellsFolded())
    for (const onnx::TensorProto &tensor : graph.initializer())
      if (!evidence.find(tensor.name()))
        recovery.constants.insert(tensor.name());
  checkAllThere();
  checkStops();
  checkWrites();
}

/// Makes initialisers of the tensors that the optimizer folded, of which older versions leave small
/// ones among the nodes.
void liftFolded(onnx::GraphProto &graph) {
  auto isFolded = [](const onnx::NodeProto &node) {
    return node.op_type() == "Constant" && Evidence::isMadeByOptimizer(node) &&
           node.output_size() == 1 && node.attribute_size() == 1 && node.attribute(0).has_t();
  };
  for (const onnx::NodeProto &node : graph.node())
    if (isFolded(node)) {
      onnx::TensorProto &tensor = *graph.add_initializer();
      tensor = node.attribute(0).t();
      tensor.set_name(node.output(0));
    }
  auto *nodes = graph.mutable_node();
  nodes->erase(std::remove_if(nodes->begin(), nodes->end(), isFolded), nodes->end());
}

} // namespace

void accc::onnx_import::recoverTorchExport(onnx::ModelProto &model, const Evidence &evidence,
                                           Recovery &recovery, TensorReader &tensors) {
  if (!evidence.tellsFolded())
    liftFolded(*model.mutable_graph());
  TorchExportRecovery(model, evidence, recovery, tensors).run();
}
