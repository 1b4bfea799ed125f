// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The structure of a model: names, order, functions. Values and types are checked where they are
// used.
#include "frontend/common/ImportError.h"
#include "frontend/onnx/Functions.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Reader.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <vector>

using namespace accc::onnx_import;

namespace {

std::string describe(const onnx::NodeProto &node) {
  std::string name = !node.name().empty()     ? node.name()
                     : node.output_size() > 0 ? node.output(0)
                                              : "without a name";
  return "node '" + name + "' (" + node.op_type() + ")";
}

/// The names that a graph can see, one set a level.
class Names {
public:
  void push() { levels.emplace_back(); }
  void pop() { levels.pop_back(); }
  bool define(llvm::StringRef name) { return levels.back().insert(name).second; }
  bool knows(llvm::StringRef name) const {
    for (const llvm::StringSet<> &level : levels)
      if (level.contains(name))
        return true;
    return false;
  }

private:
  std::vector<llvm::StringSet<>> levels;
};

void checkGraph(const onnx::GraphProto &graph, Names &names, bool isMain);

void checkNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Names &names) {
  // To tell an unknown name from one that comes too late.
  llvm::StringSet<> later;
  for (const onnx::NodeProto &node : nodes)
    for (const std::string &output : node.output())
      later.insert(output);
  for (const onnx::NodeProto &node : nodes) {
    for (const std::string &input : node.input()) {
      if (input.empty() || names.knows(input))
        continue;
      if (later.contains(input))
        fail(describe(node) + " uses '" + input +
             "' before it is produced: the graph has a cycle or is not in topological order");
      fail(describe(node) + " uses '" + input + "', which nothing produces");
    }
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        checkGraph(attribute.g(), names, /*isMain=*/false);
      for (const onnx::GraphProto &graph : attribute.graphs())
        checkGraph(graph, names, /*isMain=*/false);
    }
    for (const std::string &output : node.output())
      if (!output.empty() && !names.define(output))
        fail(describe(node) + " produces '" + output + "', which has been produced before");
  }
}

/// Defines the names of a graph, in the innermost level.
void checkBody(const onnx::GraphProto &graph, Names &names) {
  for (const onnx::ValueInfoProto &input : graph.input())
    if (!names.define(input.name()))
      fail("the graph's input '" + input.name() + "' is declared twice");
  llvm::StringSet<> initializers;
  auto initializer = [&](const std::string &name) {
    if (!initializers.insert(name).second)
      fail("the initializer '" + name + "' is given twice");
    names.define(name); // may be an input with a default, too
  };
  for (const onnx::TensorProto &tensor : graph.initializer())
    initializer(tensor.name());
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    initializer(tensor.values().name());
  checkNodes(graph.node(), names);
  for (const onnx::ValueInfoProto &output : graph.output())
    if (!names.knows(output.name()))
      fail("the graph's output '" + output.name() + "' is never produced");
}

void checkGraph(const onnx::GraphProto &graph, Names &names, bool isMain) {
  names.push();
  checkBody(graph, names);
  if (isMain && graph.output_size() == 0)
    fail("the graph has no outputs");
  names.pop();
}

/// The graphs of a training_info: the algorithm follows the model's graph, whose names it sees.
void checkTraining(const onnx::ModelProto &model, const onnx::TrainingInfoProto &training) {
  if (training.initialization().input_size() > 0)
    fail("training_info: the initialization graph has the input '" +
         training.initialization().input(0).name() + "'; it must have none");
  Names initial, step;
  checkGraph(training.initialization(), initial, /*isMain=*/false);
  step.push();
  checkBody(model.graph(), step);
  const onnx::GraphProto &algorithm = training.algorithm();
  auto isNew = [&](const std::string &name) {
    if (step.knows(name))
      fail("training_info: the algorithm declares '" + name +
           "', which is the name of a value of the model's graph");
  };
  for (const onnx::ValueInfoProto &input : algorithm.input())
    isNew(input.name());
  for (const onnx::TensorProto &tensor : algorithm.initializer())
    isNew(tensor.name());
  for (const onnx::SparseTensorProto &tensor : algorithm.sparse_initializer())
    isNew(tensor.values().name());
  checkBody(algorithm, step);
}

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// Follows the calls of functions from the graph down, and refuses cycles and what nests too deeply
/// to be inlined by recursion.
class Calls {
public:
  explicit Calls(const Functions &functions) : functions(functions) {}

  /// How deeply functions and subgraphs nest below these nodes, which themselves are at `depth`.
  int check(const Nodes &nodes, int depth) {
    int below = 0;
    for (const onnx::NodeProto &node : nodes) {
      checkDepth(node, depth);
      for (const onnx::AttributeProto &attribute : node.attribute()) {
        if (attribute.has_g())
          below = std::max(below, 1 + check(attribute.g().node(), depth + 1));
        for (const onnx::GraphProto &graph : attribute.graphs())
          below = std::max(below, 1 + check(graph.node(), depth + 1));
      }
      if (const Function *callee = functions.find(node))
        below = std::max(below, 1 + checkCall(node, *callee, depth + 1));
    }
    return below;
  }

private:
  /// Visits each function once, and knows its height from then on.
  int checkCall(const onnx::NodeProto &call, const Function &function, int depth) {
    auto [known, isNew] = heights.try_emplace(&function, kOpen);
    if (isNew) {
      int height = check(function.proto->node(), depth);
      return heights[&function] = height;
    }
    if (known->second == kOpen)
      fail("the model-local function '" + function.proto->name() + "' calls itself");
    checkDepth(call, depth + known->second);
    return known->second;
  }

  static void checkDepth(const onnx::NodeProto &node, int depth) {
    if (depth > kDeepest)
      fail(describe(node) + ": model-local functions and subgraphs nest deeper than " +
           llvm::Twine(kDeepest) + " here; inline some of them before");
  }

  static constexpr int kDeepest = 200, kOpen = -1;
  const Functions &functions;
  llvm::DenseMap<const Function *, int> heights;
};

} // namespace

template <typename Imports> static void checkOpsets(const Imports &imports) {
  llvm::StringMap<int64_t> versions;
  for (const onnx::OperatorSetIdProto &set : imports) {
    bool isStandard = set.domain().empty() || set.domain() == "ai.onnx";
    std::string what = isStandard ? "the standard operators" : "the operators of " + set.domain();
    if (set.version() < 1)
      fail("not an ONNX model: it says that it uses version " + llvm::Twine(set.version()) +
           " of " + what + " (opset_import)");
    if (isStandard && set.version() > kNewestOpset)
      fail("it uses version " + llvm::Twine(set.version()) + " of " + what +
           " (opset_import); accc knows them up to " + llvm::Twine(kNewestOpset) +
           ": export with an opset_version up to that");
    auto [it, isNew] = versions.try_emplace(isStandard ? "" : set.domain(), set.version());
    if (!isNew && it->second != set.version())
      fail("not an ONNX model: it says that it uses two versions of " + what + ", " +
           llvm::Twine(it->second) + " and " + llvm::Twine(set.version()) + " (opset_import)");
  }
}

void accc::onnx_import::checkModel(const onnx::ModelProto &model) {
  if (!model.has_graph())
    fail("not an ONNX model: it holds no graph");
  if (model.opset_import_size() == 0)
    fail(
        "not an ONNX model: it does not say which version of the operators it uses (opset_import)");
  checkOpsets(model.opset_import());

  Functions functions(model);
  for (const onnx::FunctionProto &function : model.functions()) {
    checkOpsets(function.opset_import());
    Names names;
    names.push();
    for (const std::string &input : function.input())
      names.define(input);
    checkNodes(function.node(), names);
    for (const std::string &output : function.output())
      if (!names.knows(output))
        fail("the output '" + output + "' of the model-local function '" + function.name() +
             "' is never produced");
  }
  if (model.training_info_size() > 1)
    fail("the model has " + llvm::Twine(model.training_info_size()) +
         " training_infos, of which one is supported");
  Calls calls(functions);
  for (const onnx::FunctionProto &function : model.functions())
    calls.check(function.node(), 0);
  calls.check(model.graph().node(), 0);

  Names names;
  checkGraph(model.graph(), names, /*isMain=*/true);
  for (const onnx::TrainingInfoProto &training : model.training_info()) {
    calls.check(training.initialization().node(), 0);
    calls.check(training.algorithm().node(), 0);
    checkTraining(model, training);
  }
}
