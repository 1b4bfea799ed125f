// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks a model's graph and builds @forward.
#ifndef ACCC_FRONTEND_ONNX_GRAPHIMPORTER_H
#define ACCC_FRONTEND_ONNX_GRAPHIMPORTER_H

#include "frontend/common/ImportResult.h"
#include "frontend/onnx/Entity.h"
#include "frontend/onnx/Proto.h"
#include "frontend/onnx/Tensors.h"
#include "frontend/onnx/Variables.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <set>

namespace accc::onnx_import {

/// The names that a graph, subgraph or function body sees, and the attributes that a function was
/// called with.
class Frame {
public:
  /// A graph whose body also sees the names of `outer`.
  explicit Frame(Frame *outer) : outer(outer) {}

  Frame *outer = nullptr;
  llvm::StringMap<Entity> values;
  llvm::StringMap<const onnx::TensorProto *> initializers;
  llvm::StringMap<const onnx::SparseTensorProto *> sparseInitializers;
  /// In a function: what `ref_attr_name` refers to, and the versions of its operator sets.
  llvm::StringMap<const onnx::AttributeProto *> attributes;
  const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> *opsets = nullptr;
};

class GraphImporter {
public:
  GraphImporter(std::shared_ptr<const onnx::ModelProto> model, ModelState state,
                llvm::StringRef directory, const ImportOptions &options,
                mlir::MLIRContext &context);

  /// Imports the model. Throws ImportError only for what makes everything else meaningless.
  ImportResult run();

  // ---- for rules ----
  mlir::OpBuilder &builder() { return opBuilder; }
  const ImportOptions &options() const { return importOptions; }
  TensorReader &tensors() { return tensorReader; }
  bool writtenByPyTorch() const;
  /// The file was written by accc's own exporter, which keeps the mode of every module.
  bool writtenForTraining() const { return state.exported.has_value(); }
  /// The argument [seed, step] of role random_key, and the next number that tells one random op
  /// from another.
  mlir::Value randomKey();
  int64_t nextStream() { return streams++; }
  /// Adds a warning or a note, once.
  void remark(Problem problem);
  void warn(std::string message) {
    remark({.message = std::move(message), .severity = Problem::Severity::Warning});
  }
  /// The export lost this; an error at the end, unless the damage is accepted.
  void addDamage(Loss loss, llvm::StringRef name) { state.recovery.damage.add(loss, name); }
  /// The row of an embedding (an argument made from an initialiser) that takes no gradient.
  std::optional<int64_t> paddingIndex(mlir::Value variable);
  /// The value of `variable` (an argument made from an initialiser) after the step: it becomes a
  /// buffer. False if the value is no such argument.
  bool bindUpdate(mlir::Value variable, mlir::Value update);
  /// What a variable starts with, or null if the value is no variable.
  mlir::DenseElementsAttr initialValue(mlir::Value variable);
  /// The argument is a buffer, not a parameter.
  void markBuffer(mlir::Value variable);
  /// Imports a subgraph in place; it sees the names of `frame`.
  Entities importSubgraph(const onnx::GraphProto &graph, Frame &frame,
                          llvm::ArrayRef<Entity> inputs);

private:
  void importInputs();
  /// With the sizes given for open dimensions; throws ImportError where one has none.
  llvm::SmallVector<int64_t> inputShape(const onnx::ValueInfoProto &info);
  /// The size given for a dimension by its name or position (`input.0`).
  std::optional<int64_t> givenDimension(const std::string &name);
  /// A size given for a dimension that is not there is a mistake, not a wish to be ignored.
  void checkDimensions();
  /// One more node or iteration; throws ImportAbort when there are too many.
  void count();
  void importNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Frame &frame);
  void importNode(const onnx::NodeProto &node, Frame &frame);
  Entities importCall(const onnx::FunctionProto &function, const onnx::NodeProto &node,
                      Frame &frame, llvm::ArrayRef<Entity> inputs);
  Entities runRule(const onnx::NodeProto &node, Frame &frame, Entities inputs);
  void declare(const onnx::GraphProto &graph, Frame &frame);
  Entity lookup(llvm::StringRef name, Frame &frame);
  std::optional<Entity> find(llvm::StringRef name, Frame &frame);
  Entity initializer(const onnx::TensorProto &tensor);
  int64_t opset(const onnx::NodeProto &node, const Frame &frame) const;
  mlir::Location location(const onnx::NodeProto &node);
  mlir::Value addArgument(mlir::RankedTensorType type, llvm::StringRef name);
  /// Verifies the ops built since `last` and folds what is known; `results` follow.
  void settle(mlir::Operation *last, Entities &results);
  void finish(ImportResult &result);
  void reportState(ImportResult &result);

  std::shared_ptr<const onnx::ModelProto> model;
  const ImportOptions &importOptions;
  mlir::MLIRContext &context;
  ModelState state;
  TensorReader tensorReader;
  Variables variables;
  mlir::OpBuilder opBuilder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp forward;
  mlir::Block *body = nullptr;
  Frame main;
  llvm::StringMap<const onnx::FunctionProto *> functions;
  /// Arguments that are not variables, by position: their role.
  llvm::SmallVector<std::pair<mlir::Value, prim::Role>> inputs;
  mlir::Value key;
  int64_t streams = 0;
  int64_t importedNodes = 0;
  std::set<std::string, std::less<>> openDimensions, usedDimensions;
  std::vector<Problem> remarks, problems;
  std::string diagnostics; // errors that MLIR reported while a rule ran
};

} // namespace accc::onnx_import

#endif
