// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes that take what a mask selects, where it depends on data how many elements that are. ONNX
// has them as indices, NonZero(mask), and what is read at these; they are computed by the rules
// that ATen's operators have for x[mask].
#ifndef ACCC_FRONTEND_ONNX_SELECTEDNODE_H
#define ACCC_FRONTEND_ONNX_SELECTEDNODE_H

#include "frontend/aten/Selection.h"
#include "frontend/onnx/Node.h"

namespace accc::frontend {

/// A selection, sizes of which one is how many elements are selected, or that number, which is a
/// tensor as well.
struct SelectedValue {
  aten::Local local;
};

} // namespace accc::frontend

namespace accc::onnx_import {

struct OpRow;

class SelectedNode {
public:
  SelectedNode(const Node &node, aten::Caller &caller, mlir::Location loc)
      : node(node), caller(caller), loc(loc) {}

  /// The results; nothing if the node takes no selection. Throws ImportError, which says why the
  /// mask is not known, where a selection is not supported.
  std::optional<Entities> run() const;

  // ---- for rules ----
  const Node &node;

  /// An input, or NoValue.
  aten::Local input(size_t i) const;
  template <typename T> std::optional<T> inputAs(size_t i) const {
    aten::Local local = input(i);
    auto *value = std::get_if<T>(&local);
    return value ? std::optional(*value) : std::nullopt;
  }
  std::optional<aten::Selection> selection(size_t i) const { return inputAs<aten::Selection>(i); }
  /// The number of dimensions of a tensor or a selection.
  std::optional<int64_t> rank(size_t i) const;
  /// The mask that counts the number, or null.
  mlir::Value countedMask(size_t i) const;
  /// Axes that are an attribute or an input, from 0 on.
  std::optional<aten::Integers> axes(llvm::StringRef attribute, size_t input, int64_t rank) const;

  /// Calls an operator of ATen, which gives one result.
  aten::Local call(llvm::StringRef op, const std::vector<aten::NamedLocal> &arguments) const;
  aten::MutableTensor tensor(mlir::Value value) const;
  bool isKnown(mlir::Value value) const { return caller.isKnown(loc, value); }
  bool isKnown(size_t i) const {
    return node.has(i) && !node.entity(i).selected && node.isKnown(i);
  }
  mlir::Value read(const aten::MutableTensor &tensor) const { return caller.read(loc, tensor); }
  /// What the operator itself makes of the elements of its first input, and nothing of other
  /// selections.
  std::optional<aten::Local> ofElements() const;
  /// What the operator itself makes in these sizes, its only input.
  aten::Local ofSizes(const aten::SelectedSizes &sizes) const;
  /// The mask that selects as many elements as a number says that is computed of how many another
  /// one selects; or null.
  mlir::Value maskOfNumber(const aten::MutableTensor &number) const {
    return aten::maskOfNumber(caller, loc, read(number));
  }
  /// How many elements of the mask are true.
  aten::Local countOf(mlir::Value mask) const;

private:
  /// The result of the operator's own rule.
  mlir::Value resultOf(const OpRow &op, const Entities &inputs) const;
  Entity entityOf(const aten::Local &local) const;

  aten::Caller &caller;
  mlir::Location loc;
};

/// Throws ImportError, which says why the mask of a selection, or of sizes, is not known.
void refuseSelected(const Entity &entity, aten::Caller &caller, mlir::Location loc);

/// The result of a node on selections, or nothing where they are not supported.
using SelectedRule = std::optional<aten::Local> (*)(const SelectedNode &node);

/// The rule of an operator of ONNX, or null (SelectedOps.cpp, SelectedShapes.cpp).
SelectedRule selectedRule(llvm::StringRef op);
SelectedRule selectedShapeRule(llvm::StringRef op);

} // namespace accc::onnx_import

#endif
