// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks a model's graph and builds @forward.
#ifndef ACCC_FRONTEND_ONNX_GRAPHIMPORTER_H
#define ACCC_FRONTEND_ONNX_GRAPHIMPORTER_H

#include "frontend/aten/Call.h"
#include "frontend/common/ForwardBuilder.h"
#include "frontend/onnx/Functions.h"
#include "frontend/onnx/Initializers.h"
#include "frontend/onnx/Proto.h"
#include "frontend/onnx/Tensors.h"
#include "frontend/onnx/TrainingInfo.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace accc::onnx_import {

/// The names that a graph, subgraph or function body sees, and the attributes that a function was
/// called with.
class Frame {
public:
  /// A graph whose body also sees the names of `outer`.
  explicit Frame(Frame *outer) : outer(outer) {}

  Frame *outer = nullptr;
  /// Of a branch that is computed whether it is taken or not: a boolean that says whether it is.
  mlir::Value isTaken;
  llvm::StringMap<Entity> values;
  llvm::StringMap<const onnx::TensorProto *> initializers;
  llvm::StringMap<const onnx::SparseTensorProto *> sparseInitializers;
  /// In a function: what `ref_attr_name` refers to, and the versions of its operator sets.
  llvm::StringMap<const onnx::AttributeProto *> attributes;
  const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> *opsets = nullptr;
};

/// How QuantizeLinear made integers of floats: with `scale`, `zero` (or null), and the attributes
/// that say what these apply to.
struct Rounding {
  mlir::Value from;
  /// Where nothing was clamped.
  mlir::Value isInside;
  mlir::Value scale, zero;
  int64_t axis = 0, block = 0;
};

class GraphImporter : public ForwardBuilder {
public:
  GraphImporter(std::shared_ptr<const onnx::ModelProto> model, ModelState state,
                llvm::StringRef directory, const ImportOptions &options,
                mlir::MLIRContext &context);

  /// Imports the model. Throws ImportError only for what makes everything else meaningless.
  ImportResult run();
  /// Imports the graph that computes what training starts with: @forward gives the initial values
  /// of those `weights` that it is bound to, under their names.
  ImportResult runInitialization(const WeightTable &weights);

  // ---- for rules ----
  TensorReader &tensors() { return tensorReader; }
  bool writtenByPyTorch() const;
  bool writtenByJax() const;
  /// The file was written by accc's own exporter, which keeps the mode of every module.
  bool writtenForTraining() const { return state.exported.has_value(); }
  /// What only an option says of a model that is trained. Each notes that the model asks for it.
  bool assumesDropoutTraining();
  bool assumesBatchNormTraining();
  std::optional<bool> unbiasedRunningVar();
  /// Random nodes draw numbers once, before training, and not in each step.
  bool isInitialization() const { return initializes; }
  /// The export lost this; an error at the end, unless the damage is accepted.
  void addDamage(Loss loss, llvm::StringRef name) { state.recovery.damage.add(loss, name); }
  /// The row of an embedding (an argument made from an initialiser) that takes no gradient.
  std::optional<int64_t> paddingIndex(mlir::Value variable);
  /// The integers are rounded floats: DequantizeLinear lets gradients through to these.
  void addRounding(mlir::Value integers, const Rounding &rounding) {
    roundings[integers] = rounding;
  }
  /// How these integers were made, or null.
  const Rounding *roundingOf(mlir::Value integers) const {
    auto found = roundings.find(integers);
    return found == roundings.end() ? nullptr : &found->second;
  }
  /// The tensor of a name that `frame` sees. Throws ImportError.
  mlir::Value tensorNamed(llvm::StringRef name, Frame &frame);
  /// More nodes, iterations or copies of nodes; throws ImportAbort when there are too many.
  void count(int64_t nodes = 1);
  /// Imports a subgraph in place; it sees the names of `frame`. If there is an `isTaken`, the
  /// values of these names get no gradient from the subgraph where that boolean is false.
  Entities importSubgraph(const onnx::GraphProto &graph, Frame &frame,
                          llvm::ArrayRef<Entity> inputs, mlir::Value isTaken = {});
  /// The value as it is outside of the branch that reads it.
  mlir::Value outsideBranch(mlir::Value value) const;

private:
  void importInputs(const onnx::GraphProto &graph);
  /// With the sizes given for open dimensions; throws ImportError where one has none.
  llvm::SmallVector<int64_t> inputShape(const onnx::ValueInfoProto &info);
  void importNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Frame &frame);
  void importNode(const onnx::NodeProto &node, Frame &frame);
  Entities importCall(const Function &function, const onnx::NodeProto &node, Frame &frame,
                      llvm::ArrayRef<Entity> inputs);
  Entities runRule(const onnx::NodeProto &node, Frame &frame, Entities inputs);
  void declare(const onnx::GraphProto &graph, Frame &frame);
  /// The value of a name. One by which the model takes gradients is kept apart from constants,
  /// which fold into their users, and from the same value under another name (it is not new).
  Entity named(llvm::StringRef name, const Entity &entity, bool isNew);
  Entity lookup(llvm::StringRef name, Frame &frame);
  std::optional<Entity> find(llvm::StringRef name, Frame &frame);
  Entity insideBranch(const Entity &entity, mlir::Value isTaken);
  Entity initializer(const onnx::TensorProto &tensor);
  /// What an initializer is as a variable; nothing if it is a constant.
  std::optional<Variable> variableOf(const onnx::TensorProto &tensor, const Weight &weight);
  int64_t opset(const onnx::NodeProto &node, const Frame &frame) const;
  mlir::Location location(const onnx::NodeProto &node);
  void reportState(ImportResult &result);
  /// Adds a problem for each option that nothing in the model asked for.
  void reportUnusedOptions();

  // ---- results (Results.cpp) ----
  std::vector<ForwardOutput> importOutputs();
  void importOutput(const std::string &name, ForwardOutput &output);
  /// The output that is the loss of the model's own training step; empty if none can be.
  std::string findLoss(llvm::ArrayRef<ForwardOutput> outputs);
  /// Adds a problem where a value has another type than the initializer to which it is assigned.
  void checkAssigned(const char *what, const std::string &initializer, const std::string &value,
                     mlir::Type expected, mlir::Type given);
  /// Gives the variables that the model's own training step changes their new values, and them
  /// alone.
  void bindUpdates();

  std::shared_ptr<const onnx::ModelProto> model;
  ModelState state;
  TensorReader tensorReader;
  Initializers initializers;
  llvm::DenseMap<const onnx::TensorProto *, mlir::Value> made;
  llvm::DenseMap<mlir::Value, Rounding> roundings;
  /// What a branch reads in place of values of outer graphs, and these.
  llvm::DenseMap<mlir::Value, mlir::Value> outside;
  Frame main;
  Functions functions;
  aten::Caller caller{*this};
  std::optional<TrainingInfo> training;
  bool initializes = false;
  struct {
    bool dropoutTraining = false, batchNormTraining = false, runningVariance = false;
  } asked;                          // of the options
  llvm::StringSet<> gradientLeaves; // what nodes Gradient have in `xs` and `zs`
  int64_t importedNodes = 0;
};

} // namespace accc::onnx_import

#endif
