// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of what the model computes.
#include "frontend/common/PullBack.h"
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/OpTable.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

/// The ops that compute `result` from one of the `leaves`, in program order.
SmallVector<Operation *> opsBetween(const DenseSet<Value> &leaves, Value result) {
  DenseSet<Operation *> needed;
  SmallVector<Value> pending = {result};
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (op && !leaves.contains(value) && needed.insert(op).second)
      llvm::append_range(pending, op->getOperands());
  }
  SmallVector<Operation *> ordered(needed.begin(), needed.end()), between;
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  DenseSet<Value> reached = leaves;
  for (Operation *op : ordered)
    if (llvm::any_of(op->getOperands(), [&](Value each) { return reached.contains(each); })) {
      between.push_back(op);
      for (Value each : op->getResults())
        reached.insert(each);
    }
  return between;
}

/// The tensor that an attribute names.
Value tensorNamed(Node &node, StringRef attribute, StringRef name) {
  try {
    return node.importer().tensorNamed(name, node.scope());
  } catch (const ImportError &error) {
    fail("the attribute '" + attribute + "' " + error.message);
  }
}

/// d y / d xs, where y is a function of xs and zs: at the values that the inputs give for these.
Entities gradient(Node &node) {
  SmallVector<std::string> names = node.strings("xs");
  size_t wanted = names.size();
  llvm::append_range(names, node.strings("zs"));
  if (wanted == 0)
    fail("the attribute 'xs' is missing or empty");
  if (node.inputs() != names.size())
    fail("has " + Twine(node.inputs()) + " inputs for the " + Twine(names.size()) +
         " tensors of 'xs' and 'zs'");
  SmallVector<Value> leaves;
  for (auto [i, each] : llvm::enumerate(names))
    leaves.push_back(tensorNamed(node, i < wanted ? "xs" : "zs", each));
  SmallVector<Value> values;
  DenseSet<Value> known;
  for (auto [i, leaf] : llvm::enumerate(leaves)) {
    Tensor value = i < wanted ? node.floatIn(i) : node.in(i);
    if (value.type() != leaf.getType())
      fail("input " + Twine(i) + " has the shape " + show(value.shape()) +
           " or another element type than '" + names[i] + "', for which it stands");
    if (!known.insert(leaf).second)
      fail("'" + names[i] + "' is named twice in 'xs' and 'zs', or is the same tensor as another");
    values.push_back(value);
  }
  std::string name = node.string("y");
  Value result = tensorNamed(node, "y", name);
  auto type = cast<RankedTensorType>(result.getType());
  if (!isa<FloatType>(type.getElementType()))
    fail("'" + name + "' of the attribute 'y' must be a tensor of floats");
  if (type.getNumElements() != 1)
    node.warn("'" + name + "' has " + Twine(type.getNumElements()) +
              " elements: the gradient of their sum is taken");

  SmallVector<Operation *> ops = opsBetween(known, result);
  node.importer().count(static_cast<int64_t>(ops.size())); // gradients of gradients grow fast
  auto function = [&](ArrayRef<Value> stand) -> Value {
    IRMapping mapping;
    for (Operation *op : ops) {
      mapping.map(leaves, stand); // again: one may be beside another result of the last op
      node.builder().clone(*op, mapping);
    }
    mapping.map(leaves, stand);
    return mapping.lookupOrDefault(result);
  };
  SmallVector<Tensor> gradients =
      pullBack(node, values, function, [](Tensor y) -> Value { return y.full(1.0); });
  return Entities(gradients.begin(), gradients.begin() + static_cast<ptrdiff_t>(wanted));
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::gradientOps() {
  static const OpRow rows[] = {
      {"Gradient", gradient, "ai.onnx.preview.training"},
  };
  return rows;
}
