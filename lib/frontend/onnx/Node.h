// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One ONNX node while it is imported: what a rule asks and builds with.
#ifndef ACCC_FRONTEND_ONNX_NODE_H
#define ACCC_FRONTEND_ONNX_NODE_H

#include "frontend/common/NodeBuilder.h"
#include "frontend/onnx/Proto.h"
#include "frontend/onnx/TorchCall.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

namespace accc::onnx_import {

class GraphImporter;
class Frame;

/// Every query throws ImportError if the model does not hold what is asked for, and every builder
/// if what would be built is not valid; the importer reports it at the node.
class Node : public NodeBuilder {
public:
  Node(GraphImporter &importer, Frame &frame, const onnx::NodeProto &proto, int64_t opset,
       mlir::Location loc, Entities inputs);

  const onnx::NodeProto &proto() const { return node; }
  int64_t opset() const { return version; }
  GraphImporter &importer() const { return parent; }
  Frame &scope() const { return frame; }

  /// The call that PyTorch's dynamo exporter made the node of, if the file says so.
  std::optional<TorchCall> torchCall() const;

  // ---- inputs and outputs ----
  size_t inputs() const { return operands.size(); }
  bool has(size_t i) const { return i < operands.size() && !isAbsent(operands[i]); }
  const Entity &entity(size_t i) const;
  prim::Tensor in(size_t i) const;
  /// A float tensor.
  prim::Tensor floatIn(size_t i) const;
  /// A tensor of floats or integers.
  prim::Tensor numberIn(size_t i) const;
  /// Two operands in one shape, by numpy's rule. Before operator set 7 `axis` said where the
  /// dimensions of the second one are among those of the first.
  std::pair<prim::Tensor, prim::Tensor> inOneShape(prim::Tensor a, prim::Tensor b) const;
  /// Inputs 0 and 1 in one shape. They must have one element type.
  std::pair<prim::Tensor, prim::Tensor> operandsInOneShape() const;
  /// The tensor, or null if the input is left out.
  mlir::Value optional(size_t i) const { return has(i) ? in(i).get() : mlir::Value(); }
  size_t outputs() const { return static_cast<size_t>(node.output_size()); }
  bool wants(size_t output) const { return output < outputs() && !node.output(output).empty(); }

  // ---- attributes ----
  const onnx::AttributeProto *find(llvm::StringRef name) const;
  llvm::SmallVector<std::string> attributeNames() const;
  bool hasAttribute(llvm::StringRef name) const { return find(name); }
  int64_t integer(llvm::StringRef name, std::optional<int64_t> otherwise = {}) const;
  double real(llvm::StringRef name, std::optional<double> otherwise = {}) const;
  std::string string(llvm::StringRef name, std::optional<std::string> otherwise = {}) const;
  llvm::SmallVector<int64_t> integers(llvm::StringRef name) const;
  using NodeBuilder::integers;
  llvm::SmallVector<double> reals(llvm::StringRef name) const;
  using NodeBuilder::reals;
  llvm::SmallVector<std::string> strings(llvm::StringRef name) const;
  const onnx::GraphProto &graph(llvm::StringRef name) const;

  // ---- values known while importing ----
  using NodeBuilder::knownIntegers;
  using NodeBuilder::knownReals;
  mlir::DenseElementsAttr known(size_t i) const;
  bool isKnown(size_t i) const { return has(i) && known(i); }
  /// All elements of an input that must be known, as integers or as doubles. `what` names it in the
  /// error.
  llvm::SmallVector<int64_t> knownIntegers(size_t i, llvm::StringRef what) const;
  llvm::SmallVector<double> knownReals(size_t i, llvm::StringRef what) const;
  int64_t knownInteger(size_t i, llvm::StringRef what) const;
  double knownReal(size_t i, llvm::StringRef what) const;
  /// A list that is an attribute in old operator sets and an input in new ones; nothing if left
  /// out.
  std::optional<llvm::SmallVector<int64_t>> integersFrom(llvm::StringRef attribute,
                                                         size_t input) const;

  void warn(const llvm::Twine &message) const;

private:
  static bool isAbsent(const Entity &entity) {
    return !entity.tensor && !entity.sequence && !entity.selected && !entity.isNone;
  }
  GraphImporter &parent;
  Frame &frame;
  const onnx::NodeProto &node;
  int64_t version;
  Entities operands;
};

/// Builds a node's outputs, as many as it has rules for; surplus ones are ignored.
using Rule = Entities (*)(Node &node);

} // namespace accc::onnx_import

#endif
